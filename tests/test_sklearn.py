"""Every estimator as scikit-learn knows it: its own checks, pipelines, search, frames, metadata, feature names."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.metrics import label_ranking_loss, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, estimator_checks_generator

import edgewise as ew
from tests.estimators import ALL, BANDITS, NETWORKS, ONLINE, examples, needs_torch, numeric_examples, params
from tests.skipped_checks import SKIPPED

ROOT = Path(__file__).parent.parent
# Public names that learn only inside a booster; they are parameters, and no estimators.
LEARNERS = {
    "BinaryRelevance",
    "ConvolutionNetwork",
    "DenseNetwork",
    "HoeffdingTree",
    "LabelMemory",
    "RegressionTree",
    "RidgeRegression",
    "SoftmaxRegression",
}
ARRAYS = "check_array_api_input"
VARIANTS = {
    "AdaBoostOLM-paper": lambda: ew.AdaBoostOLM.preset("paper", n_estimators=4),
    "AdaBoostMM-loss": lambda: ew.AdaBoostMM(n_estimators=10, weighting="loss"),
    "AdaBoostMM-tree": lambda: ew.AdaBoostMM(DecisionTreeClassifier(max_leaf_nodes=5), n_estimators=10),
    "OptimalStrategy-exponential": lambda: ew.OptimalStrategy(n_estimators=10, loss="exponential"),
}


def name_of(check):
    return (check.func if isinstance(check, functools.partial) else check).__name__


def all_checks():
    """Each check of each estimator, but for those of array libraries, which need a process of their own."""
    makers = {name: kind.make for name, kind in ALL.items()} | VARIANTS
    for case, make in makers.items():
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*does not inherit from")
            for estimator, check in estimator_checks_generator(make()):
                if name_of(check) != ARRAYS:
                    marks = needs_torch if case in NETWORKS else ()
                    yield pytest.param(estimator, check, id=f"{case}-{name_of(check)}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learns_checks(estimator, check):
    reason = SKIPPED.get(type(estimator).__name__, {}).get(name_of(check))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if reason is None:
            check(estimator)
        else:
            with pytest.raises(AssertionError):
                check(estimator)


def test_skipped_checks_are_known_and_have_reasons():
    seen = {(type(case.values[0]).__name__, name_of(case.values[1])) for case in all_checks()}
    for estimator, checks in SKIPPED.items():
        for check, reason in checks.items():
            assert (estimator, check) in seen
            assert reason.endswith(".")


def test_every_public_estimator_is_checked():
    public = {name: getattr(ew, name) for name in ew.__all__ if isinstance(getattr(ew, name), type)}
    learning = {name for name, value in public.items() if hasattr(value, "fit") or hasattr(value, "get_params")}
    assert learning == ALL.keys() | LEARNERS


@pytest.mark.slow
def test_array_libraries():
    """With array dispatch, on which SciPy decides when first imported, NumPy's arrays give the same results."""
    script = f"""
from sklearn.utils.estimator_checks import estimator_checks_generator
from tests.estimators import ALL, NETWORKS
from tests.test_sklearn import name_of
for name in ALL.keys() - NETWORKS.keys():
    for estimator, check in estimator_checks_generator(ALL[name].make()):
        if name_of(check) == {ARRAYS!r}:
            check(estimator)
            print(name)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        cwd=ROOT,
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == ALL.keys() - NETWORKS.keys()


# Tools


@pytest.mark.parametrize("name", params(ALL))
def test_pipelines_and_search(name):
    kind = ALL[name]
    X, y = numeric_examples(name)
    settings = {} if kind.learner is None else {"estimator": kind.learner}
    model = kind.make(**settings).set_params(**seeded(kind))
    path, values = kind.nested
    search = GridSearchCV(model, {path: values}, cv=3).fit(X, y)
    assert search.best_params_[path] in values
    assert search.best_estimator_.get_params()[path] == search.best_params_[path]
    assert kind.learner is None or clone(kind.learner).get_params() == kind.learner.get_params(), (
        "searched, not changed"
    )
    one, other = search.cv_results_["mean_test_score"]
    assert one != other, "the parameter of the learner inside arrived"
    steps = make_pipeline(StandardScaler(), kind.make().set_params(**seeded(kind)))
    scores = cross_val_score(steps, X, y, cv=3)
    assert np.isfinite(scores).all()
    assert scores.mean() > (0.4 if kind.learns == "labels" else 0.25), scores
    fitted = steps.fit(X, y)
    assert fitted.score(X, y) == fitted[-1].score(fitted[0].transform(X), y)
    html = fitted._repr_html_()
    assert name in html


@pytest.mark.parametrize("name", params(ALL))
def test_what_scikit_learn_is_told(name):
    kind, model = ALL[name], ALL[name].make()
    assert is_classifier(model) == (kind.learns != "numbers")
    assert is_regressor(model) == (kind.learns == "numbers")
    tags = model.__sklearn_tags__()
    assert tags.classifier_tags is None or tags.classifier_tags.multi_label == (kind.learns == "label sets")
    assert tags.input_tags.categorical
    assert tags.input_tags.allow_nan == (name not in NETWORKS)
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])
    assert name in model._repr_html_()
    check_dataframe_column_names_consistency(name, model)


def test_scores_of_rankings_in_a_search():
    X, Y = numeric_examples("AdaOLMR")
    scorer = make_scorer(label_ranking_loss, greater_is_better=False, response_method="decision_function")
    model = ew.AdaOLMR(n_estimators=3, random_state=0)
    told = cross_validate(model, X, Y, cv=3, scoring=scorer)["test_score"]
    own = cross_val_score(model, X, Y, cv=3)
    np.testing.assert_allclose(own, 1.0 + told)


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


def seeded(kind):
    return {"random_state": 1} if "random_state" in kind.make().get_params() else {}


@pytest.mark.parametrize("hidden", ["pandas", "polars"])
def test_neither_frame_library_is_needed(hidden):
    """Frames of the one, arrays and tables while the other cannot be imported, and arrays without either."""
    script = f"""
import sys
sys.modules[{hidden!r}] = None
import {"polars" if hidden == "pandas" else "pandas"} as library
import numpy as np
import edgewise as ew
X = np.arange(40.0).reshape(20, 2) % 7
frame = library.DataFrame({{"a": X[:, 0], "b": X[:, 1]}})
y = [0, 1] * 10
for model in (ew.HoeffdingForest(n_estimators=2), ew.CostTree()):
    from_frame = model.fit(frame, y).predict(frame)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert (model.fit(X, y).predict(X) == from_frame).all()
print("learned")
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "learned\n", done.stderr


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


# Weights and other metadata


WEIGHTED = [name for name in ALL if name not in BANDITS and name not in NETWORKS]


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_routed(name):
    kind = ALL[name]
    X, y = numeric_examples(name, 150)
    weights = np.where(np.arange(150) % 3 == 0, 0.0, 1.0)
    model = kind.make().set_params(**seeded(kind))
    expected = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X, y)
    assert (expected.predict(X) != other.predict(X)).any(), "the weights matter"
    named = make_pipeline(clone(model)).fit(X, y, **{f"{name.lower()}__sample_weight": weights})
    np.testing.assert_array_equal(named.predict(X), expected.predict(X))
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = make_pipeline(clone(asked)).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(routed.predict(X), expected.predict(X))
        assert routed.score(X, y, sample_weight=weights) == expected.score(X, y, sample_weight=weights)
        refused = make_pipeline(clone(model).set_fit_request(sample_weight=False)).fit(X, y)
        np.testing.assert_array_equal(refused.predict(X), other.predict(X))
        with pytest.raises(ValueError, match="not explicitly set as requested or not requested"):
            make_pipeline(clone(model)).fit(X, y, sample_weight=weights)
        told = cross_validate(asked, X, y, cv=3, params={"sample_weight": weights})["test_score"]
        with pytest.raises(TypeError):
            model.set_fit_request(speed=True)
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        model.set_fit_request(sample_weight=True)
    folds = [np.arange(150)[a : a + 50] for a in (0, 50, 100)]
    if kind.learns != "labels":  # rows in a row, where labels do not decide on the folds
        for score, test in zip(told, folds, strict=True):
            train = np.setdiff1d(np.arange(150), test)
            fold = clone(model).fit(X[train], y[train], sample_weight=weights[train])
            assert score == fold.score(X[test], y[test], sample_weight=weights[test])


@pytest.mark.parametrize("name", WEIGHTED)
def test_rows_without_weight_count_for_nothing(name):
    X, y = numeric_examples(name, 60)
    with pytest.raises(ValueError, match="zero"):
        ALL[name].make().fit(X, y, sample_weight=np.zeros(60))


# Labels


@pytest.mark.parametrize("name", params({n: k for n, k in ALL.items() if k.learns == "labels"}))
def test_targets_of_regression_are_refused(name):
    X, _ = numeric_examples(name, 60)
    with pytest.raises(ValueError, match="Unknown label type"):
        ALL[name].make().fit(X, X[:, 0])


@pytest.mark.parametrize("name", ["AdaOLMR", "OnlineBMR"])
def test_label_sets_of_one_label(name):
    """A vector of labels teaches a ranker what its indicator matrix teaches; its answers are labels."""
    X, y = numeric_examples("AdaBoostOLM", 200)
    classes = np.unique(y)
    Y = (y[:, None] == classes).astype(int)
    vector, matrix = (ALL[name].make(random_state=1).fit(X, target) for target in (y, Y))
    np.testing.assert_array_equal(vector.decision_function(X), matrix.decision_function(X))
    np.testing.assert_array_equal(vector.rank(X), classes[matrix.rank(X)])
    np.testing.assert_array_equal(vector.predict(X), vector.rank(X)[:, 0])
    np.testing.assert_array_equal(vector.classes_, classes)
    assert vector.score(X, y) == matrix.score(X, Y) == 1.0 - label_ranking_loss(Y, matrix.decision_function(X))
    p = vector.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(classes[p.argmax(axis=1)], vector.predict(X))
    assert np.mean(vector.predict(X) == y) > 0.5
    with pytest.raises(ValueError, match="one label for each of the 5 rows"):
        vector.partial_fit(X[:5], Y[:5])
    with pytest.raises(ValueError, match="a row of 0 and 1 for each"):
        matrix.partial_fit(X[:5], y[:5])
    more = ALL[name].make().partial_fit(X, y, classes=[*classes, "nobody"])
    assert more.labels_.tolist() == [*classes, "nobody"]
    two = ALL[name].make(random_state=1).fit(X, y == classes[0])
    np.testing.assert_array_equal(two.predict(X), two.decision_function(X) > 0.0)
