"""Batch boosting: scikit-learn estimators that boost by handing out cost matrices."""
