"""Pictures of runs and models, drawn with matplotlib, which is imported when the first one is drawn.

Every function draws on the Axes it is given, or on those of a new pyplot figure, and returns them. A figure without a
layout engine gets matplotlib's constrained layout, so that names beside the lines are not cut off.
"""

from edgewise.plot.bounds import bound
from edgewise.plot.calibration import reliability
from edgewise.plot.curves import draw, learning_curves
from edgewise.plot.over_time import edges, expert_weights, weights

__all__ = ["bound", "draw", "edges", "expert_weights", "learning_curves", "reliability", "weights"]
