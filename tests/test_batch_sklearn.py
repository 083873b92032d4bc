"""The batch estimators as scikit-learn knows them: its own checks, cloning, pipelines, search."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import edgewise as ew

BOOSTERS = [ew.AdaBoostMM, ew.AdaBoostM1, ew.AdaBoostMH, ew.SAMME, ew.OptimalStrategy]

# (estimator, check): why it cannot pass. There are none. scikit-learn itself skips check_array_api_input where
# SCIPY_ARRAY_API is not set; it passes where it is.
FAILING: dict[tuple[str, str], str] = {}


def expected_failures(estimator):
    return {check: why for (name, check), why in FAILING.items() if name == type(estimator).__name__}


@parametrize_with_checks(
    [
        ew.CostTree(),
        *(booster(n_estimators=10) for booster in BOOSTERS),
        ew.AdaBoostMM(n_estimators=10, weighting="loss"),
        ew.OptimalStrategy(n_estimators=10, loss="exponential"),
        ew.AdaBoostMM(DecisionTreeClassifier(max_leaf_nodes=5), n_estimators=10),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_no_check_is_skipped_without_a_reason():
    assert all(FAILING.values())


@pytest.mark.parametrize("booster", BOOSTERS)
def test_tools_of_scikit_learn(booster):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = np.array(["red", "green", "blue"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    search = GridSearchCV(booster(ew.CostTree(), n_estimators=5), {"estimator__max_leaves": [2, 6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"estimator__max_leaves": 6}
    assert cross_val_score(make_pipeline(StandardScaler(), booster(ew.CostTree(6), 5)), X, y, cv=3).mean() > 0.7
    model = clone(booster(ew.CostTree(6), 5)).fit(X, y)
    assert model.get_params()["estimator__max_leaves"] == 6
    assert "n_estimators=5" in repr(model)
