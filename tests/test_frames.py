"""Frames of every library and every estimator: categories are nominal, names are remembered and checked."""

from __future__ import annotations

import functools
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import edgewise as ew
from tests.estimators import ALL, ONLINE, examples, numeric_examples, params, seeded

ROOT = Path(__file__).parent.parent

# Columns of every kind


def frame(rows: int = 120) -> tuple[dict[str, list], np.ndarray]:
    table, y = examples("AdaBoostOLM", rows)
    data = {f"n{j}": [None if np.isnan(v) else float(v) for v in table.values[:, j]] for j in range(3)}
    data |= {f"c{j}": [None if np.isnan(v) else "abcd"[int(v)] for v in table.values[:, 3 + j]] for j in range(2)}
    return data, y


FRAMES = {
    "pandas": lambda data: pd.DataFrame(data).astype({"c0": "category", "c1": "category"}),
    "polars": lambda data: pl.DataFrame(data, schema_overrides={"c0": pl.Categorical, "c1": pl.Enum(list("abcd"))}),
}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize("name", ["AdaBoostOLM", "AdaBoostMM"])
def test_column_transformers_hand_on_names_and_categories(name, library):
    """Numbers scaled, categories passed through: nominal on the other side, as if the model had the frame itself."""
    data, y = frame()
    X = FRAMES[library](data)
    steps = make_pipeline(
        make_column_transformer(
            (StandardScaler(), ["n0", "n1", "n2"]), ("passthrough", ["c0", "c1"]), verbose_feature_names_out=False
        ).set_output(transform=library),
        ALL[name].make(estimator=ALL[name].learner, random_state=1),
    ).fit(X, y)
    model = steps[-1]
    assert model.feature_names_in_.tolist() == ["n0", "n1", "n2", "c0", "c1"]
    plain = ALL[name].make(estimator=ALL[name].learner, random_state=1)
    plain.fit(steps[0].transform(X), y)
    np.testing.assert_array_equal(steps.predict_proba(X), plain.predict_proba(steps[0].transform(X)))
    if name in ONLINE:
        assert model._columns.nominal.tolist() == [False] * 3 + [True] * 2
    else:
        assert [feature.categories is not None for feature in model.features_] == [False] * 3 + [True] * 2


def test_encoded_categories_are_numbers():
    data, y = frame()
    X = pd.DataFrame(data).fillna({"c0": "a", "c1": "a"})
    coded = make_column_transformer(
        (OrdinalEncoder(), make_column_selector(pattern="^c")), remainder="passthrough"
    ).set_output(transform="pandas")
    model = make_pipeline(coded, ew.AdaBoostOLM(n_estimators=3, random_state=0)).fit(X, y)[-1]
    assert not model._columns.nominal.any()
    assert model.feature_names_in_[0] == "ordinalencoder__c0"


@pytest.mark.parametrize("name", params(ALL))
def test_frames_and_tables_are_the_same_to_every_estimator(name):
    table, y = examples(name, 120)
    kind = ALL[name]
    expected = kind.make().set_params(**seeded(kind)).fit(table, y).predict(table)
    for form in FRAMES.values():
        data = {
            feature.name: [
                None if np.isnan(v) else v if feature.categories is None else feature.categories[int(v)] for v in column
            ]
            for feature, column in zip(table.features, table.values.T, strict=True)
        }
        X = form(data)
        model = kind.make().set_params(**seeded(kind)).fit(X, y)
        assert model.feature_names_in_.tolist() == list(table.feature_names)
        assert model.n_features_in_ == 5
        if name in ONLINE:
            assert [set(categories) for categories in model._columns.categories] == [set("abcd")] * 2
        assert model.predict(X).shape == expected.shape
        later = model.predict(X[::-1] if form is FRAMES["pandas"] else X.reverse())
        np.testing.assert_array_equal(later[::-1], model.predict(X))


@pytest.mark.parametrize("present", ["pandas", "polars", None])
def test_neither_frame_library_is_needed(present):
    """Frames of the one where the other is not installed, and arrays without either."""
    script = f"""
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {{"pandas", "polars"}} - {{{present!r}}}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
import numpy as np
import edgewise as ew

X = np.arange(40.0).reshape(20, 2) % 7
y = [0, 1] * 10
for model in (ew.HoeffdingForest(n_estimators=2), ew.CostTree()):
    expected = model.fit(X, y).predict(X)
    assert not hasattr(model, "feature_names_in_")
    if {present!r} is not None:
        frame = __import__({present!r}).DataFrame({{"a": X[:, 0], "b": X[:, 1]}})
        assert (model.fit(frame, y).predict(frame) == expected).all()
        assert model.feature_names_in_.tolist() == ["a", "b"]
print("learned", *sorted({{"pandas", "polars"}} & sys.modules.keys()))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["learned"] + [present] * (present is not None), done.stderr


@pytest.mark.parametrize("name", params(ONLINE))
def test_sparse_rows_are_the_same_as_dense_ones(name):
    X, y = numeric_examples(name, 80)
    X[np.abs(X) < 0.7] = 0.0
    make = functools.partial(ALL[name].make, random_state=1)
    expected = make().fit(X, y)
    model = make().fit(scipy.sparse.csr_array(X), y)
    np.testing.assert_array_equal(model.predict(scipy.sparse.csc_array(X)), expected.predict(X))


# Names of columns


@pytest.mark.parametrize("name", params(ALL))
def test_names_of_columns(name):
    X, y = numeric_examples(name, 60)
    named = pd.DataFrame(X, columns=list("abcde"))
    kind = ALL[name]
    model = kind.make().fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
        model.predict(named)
    with pytest.raises(ValueError, match=rf"X has 4 features, but {name} is expecting 5 features as input"):
        model.predict(X[:, :4])
    model = kind.make().fit(named, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    with pytest.warns(UserWarning, match="X does not have valid feature names, but .* was fitted with feature names"):
        from_array = model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.predict(named), from_array)
        np.testing.assert_array_equal(model.predict(pl.DataFrame(named)), from_array)
    for wrong in (named[list("edcba")], named.rename(columns={"e": "f"})):
        with pytest.raises(ValueError, match="The feature names should match those that were passed during fit"):
            model.predict(wrong)
        if hasattr(model, "partial_fit"):
            with pytest.raises(ValueError, match="The feature names should match"):
                model.partial_fit(wrong, y)
    if name in ONLINE:
        model = kind.make().fit(pd.DataFrame(X), y)
        assert not hasattr(model, "feature_names_in_"), "numbers are no names"


def test_a_row_has_no_names_to_miss():
    X, y = numeric_examples("AdaBandit", 60)
    model = ew.AdaBandit(n_estimators=2, random_state=0).fit(pd.DataFrame(X, columns=list("abcde")), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decide(X[0])
        model.decide(X[0].tolist())
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.decide_many(X[:2])
