"""quadratic_assignment, as in scipy."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np

from ._errors import MatchError
from ._listed import is_sparse
from ._networks import AssignmentResult, Indices, Matrix, Networks, checked_pairs, doubly_stochastic, generator, square
from ._solve import Method, solve_problem

#: Options that only Frank-Wolfe has: one of them without a method means "faq", as in scipy.
_CLIMBING = ("maxiter", "tol", "P0", "shuffle_input")
_KNOWN = (*_CLIMBING, "maximize", "partial_match", "partial_guess", "rng", "S", "unequal", "unmatched", "time_limit")


def quadratic_assignment(
    A: Any, B: Any, method: Method = None, options: dict[str, Any] | None = None
) -> AssignmentResult:
    """The permutation p that minimises ``sum(A * B[p][:, p])``.

    A drop-in for :func:`scipy.optimize.quadratic_assignment`, which proves nothing: here the answer comes with a bound.

    Parameters
    ----------
    A, B : array_like or scipy.sparse, shape (n, n)
    method : str or dict, optional
        By default the exact solver, which answers with the best it has after `time_limit`, or at once with what a search finds if the
        problem is too large for a proof. "faq" is scipy's: Frank-Wolfe from one start, here followed by local search. "2opt" is
        scipy's. Any other solver by name ("frank-wolfe", "tabu-search", ...), or a dict with its name and settings.
    options : dict, optional
        As in scipy: ``maximize``, ``partial_match``, ``rng``; for "faq" also ``P0``, ``shuffle_input``, ``maxiter``, ``tol``; for "2opt"
        ``partial_guess``. Beyond it: ``S``, an array of shape (n, m) added to the objective as ``S[i, p[i]]``; ``unequal``: allow
        graphs of different sizes (unmatched nodes have -1 in ``col_ind``); ``unmatched``: what leaving a row unmatched costs (with
        ``maximize``: scores), one number or one per row; ``time_limit`` in seconds (10 for the exact solver).

    Returns
    -------
    AssignmentResult
        ``col_ind``, ``fun``, ``nit`` as in scipy; ``bound``: no permutation is better; ``status``.

    Examples
    --------
    >>> import homolog as hm
    >>> A = [[0, 80, 150, 170], [80, 0, 130, 100], [150, 130, 0, 120], [170, 100, 120, 0]]
    >>> B = [[0, 5, 2, 7], [0, 0, 3, 8], [0, 0, 0, 3], [0, 0, 0, 0]]
    >>> result = hm.quadratic_assignment(A, B)
    >>> result.fun, result.status
    (3260.0, 'optimal')
    """
    settings = dict(options or {})
    unknown = [name for name in settings if name not in _KNOWN]
    if unknown:
        warnings.warn(f"Unknown solver options: {', '.join(unknown)}", _unknown_option_warning(), stacklevel=2)
    if method is None and any(name in settings for name in _CLIMBING):
        method = "faq"
    is_scipys = isinstance(method, str) and method.lower() in ("faq", "2opt")
    if is_scipys:
        method = str(method).lower()
        _warn_about_rng(settings.get("rng"))
    flow, distance = square(A, "A"), square(B, "B")
    n, m = flow.shape[0], distance.shape[0]
    if n != m and not settings.get("unequal", False):
        raise MatchError("`A` and `B` matrices must be of equal size")
    seeds = checked_pairs(settings.get("partial_match"), n, m, "partial_match", "seeds")
    problem = Networks([flow], [distance], bool(settings.get("maximize", False)), settings.get("S"), seeds, None, settings.get("unmatched"))
    if method == "2opt" and settings.get("unmatched") is not None:
        raise MatchError("`unmatched` is not for method 2opt, which only swaps")
    if is_scipys and (n == 0 or len(seeds) == n):
        return problem.given()
    if method == "faq":
        return _climb(problem, settings)
    if method == "2opt":
        return _swap(problem, settings)
    limit = settings.get("time_limit", 10.0 if method is None else None)
    match = solve_problem(problem.core(), method, limit)
    return problem.result(match.assignment, match.iterations, match.bound, match.status)


def _climb(problem: Networks, settings: dict[str, Any]) -> AssignmentResult:
    """Frank-Wolfe from one start, with scipy's options."""
    steps, tolerance = operator.index(settings.get("maxiter", 30)), settings.get("tol", 0.03)
    start = settings.get("P0", "barycenter")
    if isinstance(start, str) and start not in ("barycenter", "randomized"):
        raise MatchError("Invalid 'P0' parameter string")
    if steps <= 0:
        raise MatchError("'maxiter' must be a positive integer")
    if tolerance <= 0:
        raise MatchError("'tol' must be a positive float")
    rng = generator(settings.get("rng"))
    free_rows, free_columns = problem.free()
    table = _start(start, (len(free_rows), len(free_columns)), rng)
    method = {"name": "frank-wolfe", "starts": 1, "max_steps": steps, "min_step": float(tolerance), "kicks": 0}
    shuffle = rng if settings.get("shuffle_input", False) else None
    return problem.search(method, table, shuffle, settings.get("time_limit"))


def _start(start: Any, shape: tuple[int, int], rng: Any) -> Matrix | None:
    if isinstance(start, str):
        if start == "barycenter":
            return None
        flat = np.full(shape, 1.0 / max(shape))
        return np.minimum((flat + doubly_stochastic(rng.uniform(size=shape))) / 2, 1.0)
    table = np.atleast_2d(np.asarray(start, dtype=float))
    if table.shape != shape:
        raise MatchError("`P0` matrix must have shape m' x m', where m'=n-m")
    sums = [table.sum(axis=axis) for axis in (0, 1)]
    is_full = all(np.allclose(total, 1) for total in sums)
    is_partial = shape[0] != shape[1] and all((total <= 1 + 1e-6).all() for total in sums)
    if (table < 0).any() or not (is_full or is_partial):
        raise MatchError("`P0` matrix must be doubly stochastic")
    clipped: Matrix = np.clip(table, 0.0, 1.0)
    return clipped


def _swap(problem: Networks, settings: dict[str, Any]) -> AssignmentResult:
    """scipy's 2-opt: the first swap that improves the objective, until none does; `nit` counts the swaps examined."""
    n, m = problem.shape
    if n != m:
        raise MatchError("`A` and `B` matrices must be of equal size for 2opt")
    guess = checked_pairs(settings.get("partial_guess"), n, m, "partial_guess", "entries")
    order = np.full(n, -1, dtype=np.int64)
    order[guess[:, 0]] = guess[:, 1]
    order[np.isin(order, problem.seeds[:, 1])] = -1
    order[problem.seeds[:, 0]] = problem.seeds[:, 1]
    order[order < 0] = generator(settings.get("rng")).permutation(np.setdiff1d(np.arange(n), order[order >= 0]))
    free = np.setdiff1d(np.arange(n), problem.seeds[:, 0])
    flow, distance = (matrix.toarray() if is_sparse(matrix) else matrix for matrix in (problem.flow[0], problem.distance[0]))
    sign, examined = (1.0 if problem.maximize else -1.0), 0
    moved = distance[np.ix_(order, order)]
    least = 1e-12 * np.abs(flow * moved).sum()
    at = 0
    while at < len(free):
        i, others = free[at], free[at:]
        gains = sign * _gains(problem, flow, moved, order, i, others)
        better = np.flatnonzero(gains > least)
        if better.size == 0:
            examined += len(others)
            at += 1
            continue
        examined += int(better[0]) + 1
        j = others[better[0]]
        order[[i, j]] = order[[j, i]]
        moved = distance[np.ix_(order, order)]
        at = 0
    bound = np.inf if problem.maximize else -np.inf
    return problem.result(order, examined, bound, "converged")


def _gains(problem: Networks, flow: Matrix, moved: Matrix, order: Indices, i: int, others: Indices) -> Matrix:
    """What the objective gains if the places of i and of each of the others are swapped."""
    rows = flow[i] - flow[others], moved[others] - moved[i]
    columns = flow[:, i][:, None] - flow[:, others], moved[:, others] - moved[:, i][:, None]
    total = (rows[0] * rows[1]).sum(axis=1) + (columns[0] * columns[1]).sum(axis=0)
    a, b = flow, moved
    ii, jj, ij, ji = a[i, i], a[others, others], a[i, others], a[others, i]
    kk, ll, kl, lk = b[i, i], b[others, others], b[i, others], b[others, i]
    # The two nodes themselves are in the sums above, but change in another way.
    for pair in (((ii - ji), (lk - kk)), ((ij - jj), (ll - kl)), ((ii - ij), (kl - kk)), ((ji - jj), (ll - lk))):
        total = total - pair[0] * pair[1]
    total = total + (ii - jj) * (ll - kk) + (ij - ji) * (lk - kl)
    if problem.similarity is not None:
        s = problem.similarity
        total = total + s[i, order[others]] + s[others, order[i]] - s[i, order[i]] - s[others, order[others]]
    return np.where(others == i, 0.0, total)


def _unknown_option_warning() -> type[Warning]:
    try:
        from scipy.optimize import OptimizeWarning

        return OptimizeWarning  # type: ignore[no-any-return]
    except ImportError:
        return UserWarning


def _warn_about_rng(rng: Any) -> None:
    """The warnings that scipy gives about `rng`."""
    if isinstance(rng, np.random.RandomState):
        text = "Use of `RandomState` with `quadratic_assignment` is deprecated"
        warnings.warn(text, DeprecationWarning, stacklevel=3)
    state = getattr(getattr(np.random.mtrand, "_rand", None), "_bit_generator", None)
    if (rng is None or rng is np.random) and getattr(state, "_seed_seq", state) is None:
        text = "The NumPy global RNG was seeded by calling `np.random.seed`; it is not used here"
        warnings.warn(text, FutureWarning, stacklevel=3)
    if isinstance(rng, (int, np.integer)):
        text = "The behavior when the rng option is an integer is that of np.random.default_rng"
        warnings.warn(text, FutureWarning, stacklevel=3)
