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

WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": ONE_AFTER_THE_OTHER,
    "check_sample_weight_equivalence_on_sparse_data": ONE_AFTER_THE_OTHER,
}

# {estimator: {check: reason}}
SKIPPED: dict[str, dict[str, str]] = {
    "AdaBoostOLM": WEIGHTS,
    "AdaOLMR": WEIGHTS,
    "AdaOVA": WEIGHTS,
    "BinBandit": {"check_decision_proba_consistency": SHARES},
    "HoeffdingForest": WEIGHTS,
    "OneVsAllOLM": WEIGHTS,
    "OnlineBMR": WEIGHTS,
    "OnlineMBBM": WEIGHTS,
    "OzaBoost": WEIGHTS,
    "StreamingGradientBoostingClassifier": WEIGHTS,
    "StreamingGradientBoostingRegressor": WEIGHTS,
}
