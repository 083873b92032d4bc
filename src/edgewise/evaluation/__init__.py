"""Prequential evaluation: run models over streams, measure them, save the runs, draw them."""

from edgewise.evaluation.models import MODELS, ModelSpec
from edgewise.evaluation.pictures import draw
from edgewise.evaluation.prequential import evaluate, evaluate_stream
from edgewise.evaluation.racing import Race, Step, Summary, race, race_runs, summarize
from edgewise.evaluation.ranking import evaluate_ranking
from edgewise.evaluation.ranking_measures import RankingMeasures, measure_ranking
from edgewise.evaluation.runs import Curve, RankingRun, Run, load_runs, save_runs

__all__ = [
    "MODELS",
    "Curve",
    "ModelSpec",
    "Race",
    "RankingMeasures",
    "RankingRun",
    "Run",
    "Step",
    "Summary",
    "draw",
    "evaluate",
    "evaluate_ranking",
    "evaluate_stream",
    "load_runs",
    "measure_ranking",
    "race",
    "race_runs",
    "save_runs",
    "summarize",
]
