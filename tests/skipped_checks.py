"""The checks of scikit-learn that an estimator cannot pass, each with its reason.

Whatever is not listed here passes, and whatever is listed fails: `test_sklearn` sees to both.
"""

from __future__ import annotations

ONE_AFTER_THE_OTHER = (
    "The model learns rows one after the other, so their order counts, which this check changes; and a row of weight 2 "
    "is one round of the game that counts twice, not two rounds."
)
SHARES = (
    "With two classes as with more, the probabilities are shares of one vote per class, and the scores are these "
    "votes: the difference of two scores does not decide the ratio of two shares."
)
COLUMN = (
    "A matrix of one column is an indicator matrix of one label, in which there is nothing to rank; only a vector "
    "stands for one label per row."
)

WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": ONE_AFTER_THE_OTHER,
    "check_sample_weight_equivalence_on_sparse_data": ONE_AFTER_THE_OTHER,
}
RANKING = WEIGHTS | {"check_supervised_y_2d": COLUMN}

# {estimator: {check: reason}}
SKIPPED: dict[str, dict[str, str]] = {
    "AdaBoostOLM": WEIGHTS,
    "AdaOLMR": RANKING,
    "AdaOVA": WEIGHTS,
    "BinBandit": {"check_decision_proba_consistency": SHARES},
    "HoeffdingForest": WEIGHTS,
    "OneVsAllOLM": WEIGHTS,
    "OnlineBMR": RANKING,
    "OnlineMBBM": WEIGHTS,
    "OzaBoost": WEIGHTS,
    "StreamingGradientBoostingClassifier": WEIGHTS,
    "StreamingGradientBoostingRegressor": WEIGHTS,
}
