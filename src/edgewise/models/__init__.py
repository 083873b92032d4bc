"""The online boosters as estimators."""
