"""Matching without training: two graphs, a set of features, every feature counted equally."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._data import data_set
from ._errors import MatchError
from ._graph import as_graph
from ._match import Match
from ._matcher import Matcher, node_pairs
from ._solve import Method, method_text, threads


def match(
    left: Any,
    right: Any,
    features: str | Mapping[str, Any] = "linear",
    *,
    pose: str = "as-given",
    method: Method = "auto",
    seeds: Any = None,
    forbid: Any = None,
    unmatched: float | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Match:
    """Matches two graphs without training, as `homolog match --features` does.

    Every feature counts equally, in units of its spread between the two graphs. `Matcher` learns how much each should count.

    Parameters
    ----------
    left, right : graph
        Points as an (n, 2) or (n, 3) array, a `Graph`, a table, or a networkx graph.
    features : str or dict, default "linear"
        A set by name ("linear", "quadratic", "robust", "attributes", "graph", ...), or a feature map as in docs/features.md.
    pose : {"as-given", "tilted", "any"}
        Allowed rotation between the two graphs (tilted: up to 45°).
    method : str or dict, default "auto"
        The matcher: "linear", "exact", "frank-wolfe", ...; "auto" is exact for the features.
    seeds, forbid : dict or pairs of nodes, optional
        Nodes that must be matched, and nodes that must not be, by number or name.
    unmatched : float, optional
        Left nodes may stay unmatched at this cost. In networks ("graph") it says how many kept edges an edge between two nodes left out counts;
        an edge with one such end counts half as much. 0.6 is usual: matching all then pays if more than 60 % of the edges can be kept, and a
        single node is left out if it keeps less than 30 % of its own.
    time_limit : float, optional
        Seconds.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Match

    Examples
    --------
    >>> import homolog as hm
    >>> left = [[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]]
    >>> right = [[1.0, 3.1], [0.1, 0.0], [4.0, 0.2]]
    >>> hm.match(left, right).assignment.tolist()
    [1, 2, 0]
    """
    one, other = as_graph(left), as_graph(right)
    # Which nodes belong together is not known but for seeds, which choose what counts about weights of edges; the pair also gives the spreads.
    known = np.full(one._graph.node_count, -2)
    for i, k in [] if seeds is None else node_pairs(seeds, one, other):
        # What is out of range is refused below.
        if 0 <= i < len(known):
            known[i] = min(k, other._graph.node_count - 1)
    if unmatched is not None and not np.isfinite(unmatched):
        raise MatchError(f"unmatched is {unmatched!r}: it must be a finite number")
    settings = {
        "features": features if isinstance(features, str) else dict(features),
        "pose": {"turns": pose, "mirror": False},
        "matcher": json.loads(method_text(method) or "null"),
        "unlearned": True,
        "price": None if unmatched is None else float(unmatched),
    }
    data = data_set([(one, other)], [known], False)[0]
    trained = _core.train(data, json.dumps(settings), threads(n_jobs), None, False)
    model = Matcher.from_json(trained.model_json()).set_params(n_jobs=n_jobs)
    found: Match = model.match(one, other, seeds=seeds, forbid=forbid, time_limit=time_limit)
    return found
