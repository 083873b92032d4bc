"""Prequential evaluation: run models over streams, measure them, save the runs, draw them."""

from edgewise.evaluation.models import MODELS, ModelSpec
from edgewise.evaluation.pictures import draw
from edgewise.evaluation.prequential import evaluate, evaluate_stream
from edgewise.evaluation.racing import Race, Step, Summary, race, race_runs, summarize
from edgewise.evaluation.runs import Curve, Run, load_runs, save_runs

__all__ = [
    "MODELS",
    "Curve",
    "ModelSpec",
    "Race",
    "Run",
    "Step",
    "Summary",
    "draw",
    "evaluate",
    "evaluate_stream",
    "load_runs",
    "race",
    "race_runs",
    "save_runs",
    "summarize",
]
