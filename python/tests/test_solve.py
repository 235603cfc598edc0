"""solve: prices, seeds, forbidden pairs, margins; quadratic problems; affinity matrices."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import homolog as hm


def brute_force(cost, price=None, forbidden=()):
    """The smallest total over all matchings, including partial ones if there is a price."""
    n, m = cost.shape
    best = (np.inf, None)
    spare = [m + i for i in range(n)] if price is not None else []
    for choice in itertools.permutations([*range(m), *spare], n):
        if any(k >= m and k != m + i for i, k in enumerate(choice)) or any((i, k) in forbidden for i, k in enumerate(choice)):
            continue
        total = sum(cost[i, k] if k < m else price for i, k in enumerate(choice))
        best = min(best, (total, choice))
    return best


def test_prices_forbidden_pairs_and_seeds_against_brute_force(rng):
    for _ in range(60):
        cost = rng.random((3, 4))
        price = rng.random()
        assert hm.solve(cost, unmatched=price).score == pytest.approx(brute_force(cost, price)[0])
        forbidden = {(int(rng.integers(3)), int(rng.integers(4)))}
        match = hm.solve(cost, forbid=list(forbidden))
        assert match.score == pytest.approx(brute_force(cost, None, forbidden)[0])
        mask = np.zeros(cost.shape, dtype=bool)
        mask[tuple(next(iter(forbidden)))] = True
        assert hm.solve(cost, forbid=mask).score == pytest.approx(match.score)
        seeded = hm.solve(cost, seeds=[[1, 2]])
        others = {(1, k) for k in range(4) if k != 2}
        assert seeded.assignment[1] == 2 and seeded.score == pytest.approx(brute_force(cost, None, others)[0])


def test_margins_against_brute_force(rng):
    for _ in range(30):
        cost = rng.random((3, 4))
        match = hm.solve(cost)
        for i, k, margin in zip(match.left, match.right, match.margins):
            assert margin == pytest.approx(brute_force(cost, None, {(i, k)})[0] - match.score)
    assert np.isinf(hm.solve([[1.0]]).margins).all()


def test_what_a_match_says():
    match = hm.solve([[1.0, 9.0], [8.0, 7.0], [2.0, 3.0]], unmatched=2.5)
    assert match.assignment.tolist() == [0, -1, -1]
    assert (match.left.tolist(), match.right.tolist()) == ([0], [0])
    assert (match.unmatched_left.tolist(), match.unmatched_right.tolist()) == ([1, 2], [1])
    assert match.status == "optimal" and match.bound == match.score == 6.0
    assert match.to_matrix().sum() == 1 and len(match) == 1
    again = pickle.loads(pickle.dumps(match))
    assert again.score == match.score and np.array_equal(again.margins, match.margins)
    short = hm.solve([[1.0, np.inf], [2.0, np.inf]])
    assert len(short) == 1 and short.shortage is not None and short.shortage[0].tolist() == [0, 1]


def test_wrong_input_says_what_and_where():
    with pytest.raises(hm.MatchError) as caught:
        hm.solve([[1.0, np.nan]])
    assert (caught.value.row, caught.value.column) == (0, 1)
    with pytest.raises(hm.MatchError, match="index 7 is out of range"):
        hm.solve(np.ones((2, 2)), seeds=[[0, 7]])
    with pytest.raises(hm.MatchError, match="forbid"):
        hm.solve(np.ones((2, 2)), forbid=np.ones((3, 3), dtype=bool))
    with pytest.raises(hm.MatchError, match="method"):
        hm.solve(np.ones((2, 2)), method="magic")
    assert hm.solve(np.zeros((0, 3))).assignment.shape == (0,)


def test_quadratic_assignment_is_no_worse_than_scipys_on_its_own_examples(rng):
    optimize = pytest.importorskip("scipy.optimize")
    from scipy.optimize.tests import test_quadratic_assignment as theirs

    problems = [theirs.chr12c()[:2], (rng.random((9, 9)), rng.random((9, 9)))]
    for A, B in problems:
        for maximize in (False, True):
            ours = hm.quadratic_assignment(A, B, options={"maximize": maximize, "time_limit": 20})
            best = optimize.quadratic_assignment(A, B, options={"maximize": maximize})
            sign = -1 if maximize else 1
            assert sign * ours.fun <= sign * best.fun + 1e-9
            p = ours.col_ind
            assert ours.fun == pytest.approx(np.sum(np.asarray(A) * np.asarray(B)[p][:, p]))
    # The best known value of chr12c.
    assert hm.quadratic_assignment(*problems[0]).fun == 11156


def test_quadratic_assignment_with_given_pairs_and_errors(rng):
    A, B = rng.random((6, 6)), rng.random((6, 6))
    result = hm.quadratic_assignment(A, B, options={"partial_match": [[4, 0], [0, 3]]})
    assert result.col_ind[4] == 0 and result["col_ind"][0] == 3
    with pytest.raises(ValueError, match="must be square"):
        hm.quadratic_assignment(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(ValueError, match="equal size"):
        hm.quadratic_assignment(np.ones((3, 3)), np.ones((2, 2)))


def test_quadratic_assignment_has_scipys_options(rng):
    A, B = rng.random((12, 12)), rng.random((12, 12))
    best = hm.quadratic_assignment(A, B).fun
    flat = hm.quadratic_assignment(A, B, "faq")
    assert best <= flat.fun + 1e-9 and flat.status == "converged" and flat.bound <= best + 1e-9
    # A method is implied by options that only it has; steps are counted and limited.
    assert hm.quadratic_assignment(A, B, options={"maxiter": 2}).nit <= 2
    assert hm.quadratic_assignment(A, B, options={"tol": 100.0}).nit == 1
    # One start is followed: from the identity, one step with no way to go stays there.
    D = np.diag(np.arange(1.0, 6.0)) * 100
    own = hm.quadratic_assignment(D, D, options={"P0": np.eye(5), "maximize": True})
    assert own.col_ind.tolist() == [0, 1, 2, 3, 4]
    seeded = {"partial_match": [[3, 1]], "P0": "randomized", "rng": np.random.default_rng(0), "shuffle_input": True}
    again = {**seeded, "rng": np.random.default_rng(0)}
    one, other = (hm.quadratic_assignment(A, B, options=options) for options in (seeded, again))
    assert one.col_ind[3] == 1 and np.array_equal(one.col_ind, other.col_ind)
    # Swaps never lose, and end where no swap gains.
    guess = np.stack([np.arange(12), flat.col_ind], axis=1)
    swapped = hm.quadratic_assignment(A, B, "2opt", {"partial_guess": guess, "rng": rng})
    assert swapped.fun <= flat.fun + 1e-9
    for i in range(12):
        for j in range(i):
            p = swapped.col_ind.copy()
            p[[i, j]] = p[[j, i]]
            assert np.sum(A * B[p][:, p]) >= swapped.fun - 1e-9


def test_quadratic_assignment_beyond_scipy(rng):
    sparse = pytest.importorskip("scipy.sparse")
    A, B = rng.random((7, 7)), rng.random((7, 7))
    A[rng.random((7, 7)) < 0.5] = 0
    dense = hm.quadratic_assignment(A, B)
    listed = hm.quadratic_assignment(sparse.csr_array(A), sparse.coo_array(B))
    assert listed.fun == pytest.approx(dense.fun) and listed.status == dense.status == "optimal"
    # A similarity that outweighs everything decides alone.
    S = np.zeros((7, 7))
    S[np.arange(7), [3, 1, 0, 2, 6, 5, 4]] = -1000.0
    similar = hm.quadratic_assignment(A, B, options={"S": S})
    assert similar.col_ind.tolist() == [3, 1, 0, 2, 6, 5, 4]
    p = similar.col_ind
    assert similar.fun == pytest.approx(np.sum(A * B[p][:, p]) - 7000)
    # Graphs of different sizes: a part of B is found again.
    part = [5, 0, 3, 6]
    unequal = {"maximize": True, "unequal": True}
    found = hm.quadratic_assignment(B[np.ix_(part, part)] + 10, B + 10, options=unequal)
    assert len(found.col_ind) == 4 and found.status == "optimal"
    more = hm.quadratic_assignment(B, B[np.ix_(part, part)], options=unequal)
    assert (more.col_ind >= 0).sum() == 4


def test_large_quadratic_problems_are_answered(rng):
    n = 90
    A = np.triu(rng.random((n, n)), 1)
    A = A + A.T
    p = rng.permutation(n)
    B = A[p][:, p] + 1e-3 * rng.random((n, n))
    result = hm.quadratic_assignment(A, B, options={"maximize": True})
    assert np.array_equal(p[result.col_ind], np.arange(n))
    assert result.status == "limit" and result.fun <= result.bound < 1.5 * result.fun


def test_affinity_matrices(rng):
    sparse = pytest.importorskip("scipy.sparse")
    n = 6
    A = np.triu(rng.random((n, n)) < 0.6, 1).astype(float)
    A = A + A.T
    order = rng.permutation(n)
    B = A[np.argsort(order)][:, np.argsort(order)]
    # Pair (i, k) is at k * n + i.
    K = np.kron(B, A) + np.diag(rng.random(n * n) * 1e-6)
    for method in ("rrwm", "spectral", None):
        match = hm.solve_affinity(K, n, n, method=method)
        X = match.to_matrix()
        assert (X.T @ A @ X * B).sum() == A.sum(), method
        x = X.T.reshape(-1)
        assert match.score == pytest.approx(x @ K @ x)
        np.testing.assert_array_equal(hm.solve_affinity(sparse.coo_array(K), n, n, method=method).to_matrix(), X)
    with pytest.raises(hm.MatchError, match="expected shape"):
        hm.solve_affinity(K, 3, 3)


def test_negative_seeds_are_refused():
    with pytest.raises(hm.MatchError, match="seeds: positions must be at least 0, found -2"):
        hm.solve(np.ones((2, 2)), seeds=[[0, -2]])
    with pytest.raises(hm.MatchError, match="`partial_match` must contain only positive indices"):
        hm.quadratic_assignment(np.ones((2, 2)), np.ones((2, 2)), options={"partial_match": [[0, -1]]})


def test_negative_seeds_of_lists_and_pairs_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    for seeds in ([[-1, 0]], [[0, -1]], {-1: 0}):
        with pytest.raises(hm.MatchError, match="seeds: positions must be at least 0, found -1"):
            hm.solve(np.ones((2, 2)), seeds=seeds)
        with pytest.raises(hm.MatchError, match="seeds: positions must be at least 0, found -1"):
            hm.solve(sparse.csr_array(np.ones((2, 2))), seeds=seeds)
        with pytest.raises(hm.MatchError, match="seeds: positions must be at least 0, found -1"):
            hm.k_best(np.ones((2, 2)), 2, seeds=seeds)
    with pytest.raises(hm.MatchError, match="-1"):
        hm.match_points(np.zeros((2, 2)), np.zeros((2, 2)), gate=1.0, seeds=[[-1, 0]])


def test_what_a_proof_leaves_open_is_said(rng):
    plain = hm.solve(rng.random((6, 6)))
    assert plain.tolerance == 0.0 and repr(plain).endswith("proven optimal)")
    # Affinities of edges that are ten million times as large as those of nodes.
    n, said = 8, 0
    edges = np.roll(np.eye(n), 1, axis=1)
    for _ in range(10):
        steps = rng.integers(-1, 2, (n, n)) * 1e7
        table = np.zeros((n * n, n * n))
        for (i, j), (k, l) in ((e, f) for e in np.argwhere(edges) for f in np.argwhere(np.roll(np.eye(n), 3, axis=1))):
            table[k * n + i, l * n + j] = steps[i, k]
        match = hm.solve_affinity(table + np.diag(rng.random(n * n)), n, n)
        if match.status == "optimal" and match.tolerance > 0:
            said += 1
            assert match.tolerance < 1 and "proven optimal but for rounding: no matching is better by more than" in repr(match)
            assert pickle.loads(pickle.dumps(match)).tolerance == match.tolerance
    assert said > 0


def test_what_a_proof_leaves_open_is_nothing_in_ordinary_problems(rng):
    match = hm.solve(rng.random((6, 6)))
    assert match.tolerance == 0.0 and repr(match).endswith("proven optimal)")
    assert pickle.loads(pickle.dumps(match)).tolerance == 0.0
