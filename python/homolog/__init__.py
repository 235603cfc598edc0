"""Homolog learns, from a few matched examples, how you match points and graphs, and then matches new ones the same way.

Examples
--------
>>> import homolog as hm
>>> row, col = hm.linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
>>> col.tolist()
[1, 0, 2]
"""

from __future__ import annotations

from . import distributed, plot
from ._atlas import Atlas
from ._check import CheckReport, Finding, check
from ._core import __version__, linear_sum_assignment
from ._data import DataSet, load
from ._errors import ConvergenceWarning, MatchError, NotFittedError
from ._graph import Graph, as_graph
from ._graph_match import MatchResult, graph_match
from ._join import Joined, join
from ._listed import match_points, min_weight_full_bipartite_matching
from ._match import Match, match_batches
from ._matcher import Matcher
from ._naming import Found, Naming
from ._pairs import boxes, mahalanobis
from ._qap import quadratic_assignment
from ._solve import k_best, linear_sum_assignment_batch, solve, solve_affinity, verify
from ._take import TakeNaming, name_take
from ._tracks import Tracks
from ._unlearned import match

__all__ = [
    "Atlas",
    "CheckReport",
    "ConvergenceWarning",
    "DataSet",
    "Finding",
    "Found",
    "Graph",
    "Joined",
    "Match",
    "MatchError",
    "MatchResult",
    "Matcher",
    "Naming",
    "NotFittedError",
    "TakeNaming",
    "Tracks",
    "__version__",
    "as_graph",
    "boxes",
    "check",
    "distributed",
    "graph_match",
    "join",
    "k_best",
    "linear_sum_assignment",
    "linear_sum_assignment_batch",
    "load",
    "mahalanobis",
    "match",
    "match_batches",
    "match_points",
    "min_weight_full_bipartite_matching",
    "name_take",
    "plot",
    "quadratic_assignment",
    "solve",
    "solve_affinity",
    "verify",
]
