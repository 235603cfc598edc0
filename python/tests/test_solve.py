"""solve: prices, seeds, forbidden pairs, margins; quadratic problems; names of pygmtools."""

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


def test_names_of_pygmtools(rng):
    sparse = pytest.importorskip("scipy.sparse")
    n = 6
    A = np.triu(rng.random((n, n)) < 0.6, 1).astype(float)
    A = A + A.T
    order = rng.permutation(n)
    B = A[np.argsort(order)][:, np.argsort(order)]
    # Pair (i, k) is at k * n + i.
    K = np.kron(B, A) + np.diag(rng.random(n * n) * 1e-6)
    for solver in (hm.pygm.rrwm, hm.pygm.sm):
        X = solver(K, n, n)
        assert np.array_equal(X.sum(axis=0), np.ones(n)) and np.array_equal(X.sum(axis=1), np.ones(n))
        kept = X.T @ A @ X * B
        assert kept.sum() == A.sum(), solver.__name__
        np.testing.assert_array_equal(solver(sparse.coo_array(K), n, n), X)
    left, right = np.argwhere(A), np.argwhere(B)
    by_edges = hm.pygm.affinity(np.zeros((n, n)), left, right, np.ones((len(left), len(right))))
    assert (hm.pygm.rrwm(by_edges).T @ A @ hm.pygm.rrwm(by_edges) * B).sum() == A.sum()
    with pytest.raises(hm.MatchError, match="expected shape"):
        hm.pygm.rrwm(K, 3, 3)


def test_sinkhorn_and_hungarian(rng):
    scores = rng.normal(size=(4, 6))
    soft = hm.pygm.sinkhorn(scores, max_iter=200)
    np.testing.assert_allclose(soft.sum(axis=1), 1, atol=1e-6)
    assert (soft.sum(axis=0) <= 1 + 1e-6).all() and (soft >= 0).all()
    hard = hm.pygm.hungarian(scores)
    assert (hard * scores).sum() == pytest.approx(hm.solve(scores, maximize=True).score)
    np.testing.assert_allclose(hm.pygm.sinkhorn(scores.T, max_iter=200), soft.T, atol=1e-9)
