"""Prequential evaluation: run models over streams, measure them, save the runs."""

from edgewise.evaluation.models import MODELS, ModelSpec
from edgewise.evaluation.prequential import Course, evaluate, evaluate_ranking, evaluate_stream, watch
from edgewise.evaluation.racing import Race, Step, Summary, race, race_runs, summarize
from edgewise.evaluation.ranking_measures import RankingMeasures, measure_ranking
from edgewise.evaluation.runs import Curve, RankingRun, Run, load_runs, save_runs

__all__ = [
    "MODELS",
    "Course",
    "Curve",
    "ModelSpec",
    "Race",
    "RankingMeasures",
    "RankingRun",
    "Run",
    "Step",
    "Summary",
    "evaluate",
    "evaluate_ranking",
    "evaluate_stream",
    "load_runs",
    "measure_ranking",
    "race",
    "race_runs",
    "save_runs",
    "summarize",
    "watch",
]
