"""Files of the present format, and what their models say: `python -m tests.files.record`, once for each format.

Files of a format that was released are never written again: they show that later versions read them.
"""

from __future__ import annotations

import json
from pathlib import Path

import edgewise as ew
from edgewise.persist.archive import VERSION
from tests.saved_models import MODELS, NETWORKS, learn, says

FOLDER = Path(__file__).parent / f"format-{VERSION}"
CHOSEN = {
    "adaboost_olm": "AdaBoostOLM, list",
    "online_mbbm": "OnlineMBBM",
    "oza_boost": "OzaBoost",
    "one_vs_all": "OneVsAllOLM",
    "ada_olmr": "AdaOLMR",
    "online_bmr": "OnlineBMR",
    "ada_bandit": "AdaBandit",
    "bin_bandit": "BinBandit",
    "gradient_regressor": "Regressor",
    "gradient_classifier": "Classifier",
    "adaboost_mm": "AdaBoostMM",
    "cost_tree": "CostTree",
    "networks": "NetworksClassifier",
}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    recorded = {}
    for stem, name in CHOSEN.items():
        path = FOLDER / f"{stem}.edgewise"
        learn((MODELS | NETWORKS)[name](), 25, seed=0).save(path)
        model = ew.load(path)
        recorded[stem] = {"repr": repr(model), "says": [said.tolist() for said in says(model, seed=11, n=6)]}
    (FOLDER / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
