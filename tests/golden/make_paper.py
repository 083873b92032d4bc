"""Golden results of AdaBoost.OLM under preset "paper", recorded before the ensemble had any further options.

Run `python -m tests.golden.make_paper > tests/golden/paper.json` only when a change of results is meant; the file then
says what changed.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

import edgewise as ew
from tests.small_streams import mixed_stream

LEARNERS = 10
SEED = 5


def streams() -> dict[str, tuple[ew.Table, np.ndarray]]:
    """Numbers only, categories only, and both with missing values."""
    return {
        "balance": ew.datasets.shuffled(*ew.datasets.load("balance"), SEED),
        "car": ew.datasets.shuffled(*ew.datasets.load("car"), SEED, 500),
        "mixed": mixed_stream(),
    }


def measured(model: Any, X: ew.Table, y: np.ndarray) -> dict[str, Any]:
    """What a prequential run leaves behind."""
    guesses = model.prequential(X, y)
    return {
        "rows": len(y),
        "accuracy": float(np.mean(guesses == y)),
        "guesses": hashlib.sha256("\n".join(map(str, guesses)).encode()).hexdigest(),
        "nodes": model.n_nodes_.tolist(),
        "learner_weights": model.learner_weights_.tolist(),
        "edges": model.edges_.tolist(),
        "expert_mistakes": model.expert_mistakes_.tolist(),
        "decisions": model.decision_function(X[:3]).tolist(),
    }


if __name__ == "__main__":
    golden = {}
    for name, (X, y) in streams().items():
        model = ew.AdaBoostOLM.preset("paper", n_estimators=LEARNERS, random_state=SEED)
        golden[name] = measured(model, X, y)
    print(json.dumps(golden, indent=1))
