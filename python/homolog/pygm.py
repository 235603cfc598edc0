"""Matchers under the names used by pygmtools: ``sm``, ``rrwm``, ``hungarian``, ``sinkhorn``.

`K` is an affinity matrix of pairs of nodes, with pair (i, k) at ``k * n1 + i`` as there: a dense array, anything from ``scipy.sparse``, or,
without any n²×n² matrix, what :func:`affinity` makes of node and edge affinities. Results are tables of shape (n1, n2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._graph import plain_floats, plain_integers
from ._match import Match
from ._solve import Method, make_problem, solve_problem

__all__ = ["Affinity", "affinity", "hungarian", "rrwm", "sinkhorn", "sm"]

Table = NDArray[np.float64]


class Affinity:
    """Affinities of pairs of nodes, and of pairs of existing edges."""

    def __init__(self, problem: _core.Problem) -> None:
        self._problem = problem

    def match(self, method: Method = None, *, time_limit: float | None = None) -> Match:
        """Solves with any method, exactly by default: a Match with its score, bound and status."""
        return solve_problem(self._problem, method, time_limit)


def affinity(
    node: ArrayLike,
    left_edges: ArrayLike,
    right_edges: ArrayLike,
    edge: ArrayLike,
) -> Affinity:
    """Affinities without an n²×n² matrix: `node` (n1, n2), `edge` (e1, e2) for the edges (e1, 2) and (e2, 2).

    Examples
    --------
    >>> import numpy as np, homolog as hm
    >>> path = [[0, 1], [1, 2]]
    >>> K = hm.pygm.affinity(np.eye(3), path, path, np.ones((2, 2)))
    >>> hm.pygm.rrwm(K).argmax(axis=1).tolist()
    [0, 1, 2]
    """
    left, right = (plain_integers(np.reshape(edges, (-1, 2))) for edges in (left_edges, right_edges))
    values = plain_floats(edge)
    if values.shape != (len(left), len(right)):
        raise MatchError(f"edge: expected a table of shape {(len(left), len(right))}, found {values.shape}")
    pairs = np.argwhere(values)
    problem = make_problem(node, maximize=True)
    chosen = plain_floats(values[pairs[:, 0], pairs[:, 1]])
    return Affinity(problem.with_edges(left, right, plain_integers(pairs), chosen))


def sm(K: Any, n1: int | None = None, n2: int | None = None, max_iter: int = 50) -> Table:
    """Spectral matching (Leordeanu & Hebert 2005), rounded to a matching: a table of zeros and ones."""
    return _solve(K, n1, n2, {"name": "spectral", "max_steps": max_iter})


def rrwm(
    K: Any, n1: int | None = None, n2: int | None = None, max_iter: int = 50, alpha: float = 0.2, beta: float = 30.0
) -> Table:
    """Reweighted random walks (Cho, Lee & Lee 2010), rounded to a matching: a table of zeros and ones."""
    return _solve(K, n1, n2, {"name": "rrwm", "max_steps": max_iter, "walk": alpha, "inflation": beta})


def hungarian(s: ArrayLike, unmatch1: ArrayLike | None = None) -> Table:
    """The matching with the largest total score, as a table of zeros and ones.

    Examples
    --------
    >>> import homolog as hm
    >>> hm.pygm.hungarian([[0.1, 0.9], [0.8, 0.7]])
    array([[0., 1.],
           [1., 0.]])
    """
    return solve_problem(make_problem(s, maximize=True, unmatched=unmatch1)).to_matrix()


def sinkhorn(s: ArrayLike, max_iter: int = 10, tau: float = 1.0) -> Table:
    """``exp(s / tau)`` made doubly stochastic; rows sum to one, and columns too if the table is square.

    Examples
    --------
    >>> import numpy as np, homolog as hm
    >>> bool(np.allclose(hm.pygm.sinkhorn([[1.0, 0.2], [0.3, 2.0]], max_iter=100).sum(axis=0), 1))
    True
    """
    logs = plain_floats(s) / tau
    if logs.ndim != 2:
        raise MatchError(f"expected a matrix (2-D array), got a {logs.ndim} array")
    if logs.size == 0:
        return np.zeros(logs.shape)
    turned = logs.shape[0] > logs.shape[1]
    logs = logs.T.copy() if turned else logs.copy()
    spare = logs.shape[1] - logs.shape[0]
    if spare:
        # Dummy rows take what is left over, as in pygmtools.
        logs = np.vstack([logs, np.full((spare, logs.shape[1]), logs[np.isfinite(logs)].min(initial=0.0) - 100.0)])
    for _ in range(max(int(max_iter), 1)):
        for axis in (1, 0):
            top = logs.max(axis=axis, keepdims=True)
            top[~np.isfinite(top)] = 0.0
            with np.errstate(divide="ignore"):
                logs = logs - top - np.log(np.exp(logs - top).sum(axis=axis, keepdims=True))
    soft: Table = np.exp(logs[: logs.shape[0] - spare] if spare else logs)
    return soft.T if turned else soft


def _solve(K: Any, n1: int | None, n2: int | None, method: dict[str, Any]) -> Table:
    problem = K._problem if isinstance(K, Affinity) else _problem(K, n1, n2)
    return solve_problem(problem, method).to_matrix()


def _problem(K: Any, n1: int | None, n2: int | None) -> _core.Problem:
    """The node scores on the diagonal of K, and the entries off it as pairs of edges."""
    if hasattr(K, "tocoo"):
        sparse = K.tocoo()
        rows, columns, values = sparse.row, sparse.col, sparse.data
        shape = sparse.shape
    else:
        dense = np.asarray(K, dtype=float)
        shape = dense.shape
        rows, columns = np.nonzero(dense) if dense.ndim == 2 else (np.zeros(0, int), np.zeros(0, int))
        values = dense[rows, columns] if dense.ndim == 2 else np.zeros(0)
    if n1 is None or n2 is None:
        raise MatchError("n1 and n2 are needed: how many nodes the two graphs have")
    if len(shape) != 2 or shape != (n1 * n2, n1 * n2):
        raise MatchError(f"K: expected shape {(n1 * n2, n1 * n2)} for {n1} and {n2} nodes, found {shape}")
    node = np.zeros((n1, n2))
    own = rows == columns
    np.add.at(node, (rows[own] % n1, rows[own] // n1), values[own])
    i, k, j, other = rows % n1, rows // n1, columns % n1, columns // n1
    pair = (i != j) & (k != other)
    left, e = np.unique(np.stack([i[pair], j[pair]], axis=1), axis=0, return_inverse=True)
    right, f = np.unique(np.stack([k[pair], other[pair]], axis=1), axis=0, return_inverse=True)
    pairs = np.stack([e.reshape(-1), f.reshape(-1)], axis=1)
    problem = make_problem(node, maximize=True)
    chosen = plain_floats(np.asarray(values, dtype=float)[pair])
    return problem.with_edges(plain_integers(left), plain_integers(right), plain_integers(pairs), chosen)
