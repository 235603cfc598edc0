"""Matching problems given as costs: one, many, with prices, seeds and forbidden pairs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._graph import plain_floats, plain_integers
from ._listed import is_sparse, listed
from ._match import Match

#: A solver by name, or a dict with its name and settings.
Method = Union[str, Mapping[str, Any], None]
Indices = NDArray[np.int64]


def linear_sum_assignment_batch(
    costs: ArrayLike | Sequence[ArrayLike], maximize: bool = False, *, n_jobs: int | None = None
) -> Any:
    """The best assignments of many problems, on all cores.

    Parameters
    ----------
    costs : array_like, shape (b, n, m), or sequence of (n_i, m_i) array_like
        Costs; ``inf`` forbids a pair.
    maximize : bool, default False
        Maximise the totals instead of minimising them.
    n_jobs : int, optional
        How many threads; all cores by default.

    Returns
    -------
    (row_ind, col_ind) of shape (b, min(n, m)) for an array; for a sequence a list of such pairs, one for each problem.

    Examples
    --------
    >>> import homolog as hm
    >>> row, col = hm.linear_sum_assignment_batch([[[1, 2], [3, 1]], [[5, 0], [0, 5]]])
    >>> col.tolist()
    [[0, 1], [1, 0]]
    """
    jobs = threads(n_jobs)
    stack: Any = costs
    if not isinstance(stack, np.ndarray) and _is_list_of_matrices(stack):
        return _core.linear_sum_assignment_batch([_matrix(cost) for cost in stack], bool(maximize), jobs)
    stack = np.asarray(stack)
    if stack.ndim != 3:
        raise MatchError(f"expected a 3-D array or a list of matrices, got a {stack.ndim}-D array")
    return _core.linear_sum_assignment_batch(plain_floats(stack), bool(maximize), jobs)


def _is_list_of_matrices(costs: Any) -> bool:
    return len(costs) == 0 or all(isinstance(cost, np.ndarray) for cost in costs) or len({np.shape(cost) for cost in costs}) > 1


def _matrix(cost: ArrayLike) -> NDArray[np.float64]:
    matrix = np.asarray(cost)
    if matrix.ndim != 2:
        raise MatchError(f"expected a matrix (2-D array), got a {matrix.ndim} array")
    return plain_floats(matrix)


def solve(
    cost: Any,
    *,
    maximize: bool = False,
    unmatched: ArrayLike | None = None,
    gate: float | None = None,
    forbid: ArrayLike | None = None,
    seeds: ArrayLike | Mapping[int, int] | None = None,
    method: Method = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> Match:
    """The best matching of rows to columns, some of which may stay unmatched.

    Parameters
    ----------
    cost : array_like or scipy.sparse matrix, shape (n, m)
        Costs; ``inf`` forbids a pair (``-inf`` with `maximize`). In a sparse matrix absent entries are forbidden and explicit zeros are costs of
        zero; it is solved as a list, and no table of all pairs is made.
    maximize : bool, default False
        The matrix has scores, which are maximised.
    unmatched : float or array_like of shape (n,), optional
        What it costs (with `maximize`: scores) to leave a row without a column; by default as many rows as possible are matched.
    gate : float, optional
        Pairs that cost more than this (with `maximize`: score less) are forbidden.
    forbid : array_like of bool, shape (n, m), or of int, shape (f, 2), optional
        Pairs that must not be matched.
    seeds : array_like of int, shape (s, 2), or dict of row to column, optional
        Pairs that must be matched.
    method : str or dict, optional
        A solver by name, or with settings; exact by default.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    n_jobs : int, optional
        How many threads; all cores by default.

    Returns
    -------
    Match

    Examples
    --------
    >>> import homolog as hm
    >>> match = hm.solve([[1.0, 9.0], [8.0, 7.0], [2.0, 3.0]], unmatched=2.5)
    >>> match.assignment.tolist(), match.score, match.status
    ([0, -1, -1], 6.0, 'optimal')
    """
    problem = problem_of(cost, maximize, unmatched, gate, forbid, seeds)
    if isinstance(problem, _core.Problem):
        return solve_problem(problem, method, time_limit, n_jobs)
    if method_text(method) is not None and method != "linear":
        raise MatchError(f"method is {method!r}: a sparse matrix is solved by 'linear'")
    fields, proof = problem.solve(False, time_limit, threads(n_jobs))
    return Match(fields, proof=proof)


def k_best(
    cost: Any,
    k: int,
    *,
    maximize: bool = False,
    unmatched: ArrayLike | None = None,
    gate: float | None = None,
    forbid: ArrayLike | None = None,
    seeds: ArrayLike | Mapping[int, int] | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> list[Match]:
    """The k best matchings of rows to columns, best first (Murty 1968).

    Parameters
    ----------
    cost : array_like or scipy.sparse matrix, shape (n, m)
        As in :func:`solve`.
    k : int
        How many; fewer are returned if there are no more, or after `time_limit`.
    maximize, unmatched, gate, forbid, seeds, time_limit, n_jobs
        As in :func:`solve`.

    Returns
    -------
    list of Match
        Their `status` is "optimal" if they are proven to be the best ones, in this order.

    Examples
    --------
    >>> import homolog as hm
    >>> [(match.assignment.tolist(), match.score) for match in hm.k_best([[5.0, 3.0], [4.0, 1.0]], 3)]
    [([0, 1], 6.0), ([1, 0], 7.0)]
    """
    if not (k >= 0 and k == int(k)):
        raise MatchError(f"k is {k}: it must be a whole number, at least 0")
    problem = problem_of(cost, maximize, unmatched, gate, forbid, seeds)
    found, is_proven = _core.k_best(problem, int(k), time_limit, threads(n_jobs))
    nothing = np.inf if maximize else -np.inf
    common = {"status": "optimal" if is_proven else "converged", "iterations": len(found), "shortage": None, "right_count": _width(cost)}
    return [
        Match({**common, "assignment": assignment, "score": score, "bound": score if is_proven else nothing})
        for assignment, score in found
    ]


def verify(
    cost: Any,
    match: Match,
    *,
    maximize: bool = False,
    unmatched: ArrayLike | None = None,
    gate: float | None = None,
    forbid: ArrayLike | None = None,
    seeds: ArrayLike | Mapping[int, int] | None = None,
) -> float:
    """A bound on the total of every matching, from the dual values of a match and the costs alone: a proof that does not rely on the solver.

    Parameters
    ----------
    cost : array_like or scipy.sparse matrix, shape (n, m)
        As given to :func:`solve`.
    match : Match
        What :func:`solve`, or :func:`match_points` on the same distances, returned.
    maximize, unmatched, gate, forbid, seeds
        As given to :func:`solve`.

    Returns
    -------
    float
        No matching costs less (with `maximize`: scores more). It is the match's own total, up to rounding, if that is optimal. Wrong
        dual values give a weaker bound, never a false one.

    Raises
    ------
    MatchError
        The match has no dual values, is not a matching of this problem, or does not show why it leaves rows unmatched.

    Examples
    --------
    >>> import homolog as hm
    >>> cost = [[4, 1, 3], [2, 0, 5], [3, 2, 2]]
    >>> hm.verify(cost, hm.solve(cost))
    5.0
    """
    if match.proof is None:
        raise MatchError("the match has no dual values: it was not solved by 'linear', or was stopped early")
    problem = problem_of(cost, maximize, unmatched, gate, forbid, seeds)
    return _core.verify(problem, plain_integers(match.assignment), match.proof)


def _width(cost: Any) -> int:
    return int(cost.shape[1]) if hasattr(cost, "shape") else int(np.shape(cost)[1])


def problem_of(
    cost: Any, maximize: bool, unmatched: ArrayLike | None, gate: float | None, forbid: ArrayLike | None, seeds: Any
) -> _core.Problem | _core.Listed:
    """A linear problem of the library: a table, or a list if the costs are a sparse matrix."""
    if gate is not None and np.isnan(gate):
        raise MatchError(f"gate is {gate}: it must be a number")
    if is_sparse(cost):
        return listed(cost, bool(maximize), unmatched, gate, _pairs(seeds, "seeds"), _forbidden(forbid, cost.shape))
    if gate is not None:
        cost = _matrix(cost)
        cost = np.where(cost < gate if maximize else cost > gate, -np.inf if maximize else np.inf, cost)
    return make_problem(cost, maximize, unmatched, forbid, seeds)


def solve_affinity(
    K: Any, n1: int, n2: int, *, method: Method = None, time_limit: float | None = None, n_jobs: int | None = None
) -> Match:
    """The matching with the largest sum of affinities, x' K x (Lawler's quadratic assignment problem).

    Parameters
    ----------
    K : array_like or scipy.sparse, shape (n1 * n2, n1 * n2)
        Affinities of pairs of pairs, with the pair (i, k) at ``k * n1 + i`` as in pygmtools; those of nodes are on the diagonal.
    n1, n2 : int
        How many nodes the graphs have.
    method : str or dict, optional
        A solver by name ("rrwm", "spectral", "frank-wolfe", ...), or with settings; exact by default.
    time_limit : float, optional
        Seconds after which the best so far is returned.
    n_jobs : int, optional
        How many threads; all cores by default.

    Returns
    -------
    Match

    Examples
    --------
    >>> import numpy as np, homolog as hm
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> match = hm.solve_affinity(np.kron(path, path) + np.diag(np.eye(3).ravel()), 3, 3, method="rrwm")
    >>> match.assignment.tolist(), match.score
    ([0, 1, 2], 7.0)
    """
    if hasattr(K, "tocoo"):
        entries = K.tocoo()
        shape, rows, columns, values = entries.shape, entries.row, entries.col, entries.data
    else:
        dense = np.asarray(K, dtype=float)
        shape = dense.shape
        rows, columns = np.nonzero(dense) if dense.ndim == 2 else (np.zeros(0, int), np.zeros(0, int))
        values = dense[rows, columns] if dense.ndim == 2 else np.zeros(0)
    if shape != (n1 * n2, n1 * n2):
        raise MatchError(f"K: expected shape {(n1 * n2, n1 * n2)} for {n1} and {n2} nodes, found {shape}")
    rows, columns, values = (np.asarray(part) for part in (rows, columns, values))
    node = np.zeros((n1, n2))
    own = rows == columns
    np.add.at(node, (rows[own] % n1, rows[own] // n1), values[own])
    (k, i), (other, j) = np.divmod(rows.astype(np.int64), n1), np.divmod(columns.astype(np.int64), n1)
    pair = (i != j) & (k != other)
    left, e = _numbered(i[pair], j[pair], n1)
    right, f = _numbered(k[pair], other[pair], n2)
    problem = make_problem(node, maximize=True)
    chosen = plain_floats(np.asarray(values[pair], dtype=float))
    problem = problem.with_edges(left, right, plain_integers(np.stack([e, f], axis=1)), chosen)
    return solve_problem(problem, method, time_limit, n_jobs)


def _numbered(source: Indices, target: Indices, count: int) -> tuple[Indices, Indices]:
    """The distinct edges among these, and which of them each is."""
    code = source * count + target
    is_used = np.zeros(count * count, dtype=bool)
    is_used[code] = True
    used = np.flatnonzero(is_used)
    number = np.cumsum(is_used) - 1
    return plain_integers(np.stack(np.divmod(used, count), axis=1)), number[code]


def solve_problem(
    problem: _core.Problem,
    method: Method = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    start: NDArray[np.float64] | None = None,
) -> Match:
    """Solves, Frank-Wolfe from a given soft matching if there is one; the margins are computed if they are asked for."""
    text = method_text(method)
    jobs = threads(n_jobs)
    solution = problem.solve(text, time_limit, jobs, start)
    return Match(solution.fields(), lambda: solution.margins(jobs), proof=solution.proof, tolerance=lambda: solution.tolerance(None))


def make_problem(
    cost: ArrayLike,
    maximize: bool = False,
    unmatched: ArrayLike | None = None,
    forbid: ArrayLike | None = None,
    seeds: Any = None,
) -> _core.Problem:
    """A linear problem of the library."""
    matrix = _matrix(cost)
    prices = None
    if unmatched is not None:
        if isinstance(unmatched, (int, float)):
            prices = np.full(matrix.shape[0], float(unmatched))
        else:
            prices = plain_floats(np.broadcast_to(np.asarray(unmatched, dtype=float), matrix.shape[:1]))
    return _core.Problem(matrix, bool(maximize), prices, _pairs(seeds, "seeds"), _forbidden(forbid, matrix.shape))


def pairs_array(pairs: Any, what: str) -> Indices | None:
    """Pairs of numbers, one per row."""
    return _pairs(pairs, what)


def _pairs(pairs: Any, what: str) -> Indices | None:
    if pairs is None:
        return None
    rows = np.array(list(pairs.items()) if isinstance(pairs, Mapping) else pairs, dtype=np.int64)
    if rows.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise MatchError(f"{what}: expected pairs of numbers, shape (k, 2), found shape {rows.shape}")
    if (rows < 0).any():
        raise MatchError(f"{what}: positions must be at least 0, found {rows.min()}")
    return plain_integers(rows)


def _forbidden(forbid: Any, shape: tuple[int, ...]) -> Indices | None:
    if forbid is None:
        return None
    table = np.asarray(forbid)
    if table.dtype != bool:
        return _pairs(table, "forbid")
    if table.shape != shape:
        raise MatchError(f"forbid: expected a table of shape {shape}, found shape {table.shape}")
    return plain_integers(np.argwhere(table))


def method_text(method: Method) -> str | None:
    """A method as in settings files."""
    if method is None or method == "auto":
        return None
    return json.dumps({"name": method} if isinstance(method, str) else dict(method))


def threads(n_jobs: int | None) -> int | None:
    """None and -1 mean all cores."""
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs < 1:
        raise MatchError(f"n_jobs is {n_jobs}: it must be a number of threads, or -1 or None for all cores")
    if n_jobs > 1024:
        raise MatchError(f"n_jobs is {n_jobs}: it must be at most 1024")
    return int(n_jobs)
