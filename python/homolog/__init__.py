"""Homolog learns, from a few matched examples, how you match points and graphs, and then matches new ones.

>>> import homolog as hm
>>> row, col = hm.linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
>>> col.tolist()
[1, 0, 2]
"""

from __future__ import annotations

from . import distributed, plot, pygm
from ._atlas import Atlas
from ._core import __version__, linear_sum_assignment
from ._data import DataSet, load
from ._errors import ConvergenceWarning, MatchError, NotFittedError
from ._graph import Graph, as_graph
from ._match import Match, match_batches
from ._matcher import Matcher
from ._naming import Found, Naming
from ._qap import quadratic_assignment
from ._solve import linear_sum_assignment_batch, solve

__all__ = [
    "Atlas",
    "ConvergenceWarning",
    "DataSet",
    "Found",
    "Graph",
    "Match",
    "MatchError",
    "Matcher",
    "Naming",
    "NotFittedError",
    "__version__",
    "as_graph",
    "distributed",
    "linear_sum_assignment",
    "linear_sum_assignment_batch",
    "load",
    "match_batches",
    "plot",
    "pygm",
    "quadratic_assignment",
    "solve",
]
