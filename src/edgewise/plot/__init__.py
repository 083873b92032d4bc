"""Pictures of runs and models, drawn with matplotlib, which is imported when the first one is drawn.

Every function draws on the Axes it is given, or on those of a new pyplot figure, and returns them. A figure without a
layout engine gets matplotlib's constrained layout, so that names beside the lines are not cut off.
"""

from edgewise.plot.curves import draw, learning_curves
from edgewise.plot.diagnostics import bound, edges, expert_weights, reliability, weights

__all__ = ["bound", "draw", "edges", "expert_weights", "learning_curves", "reliability", "weights"]
