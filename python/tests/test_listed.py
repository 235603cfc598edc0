"""Sparse matrices and points near each other: the same answers as tables, and proofs."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest

import homolog as hm

sparse = pytest.importorskip("scipy.sparse")


def table_of(matrix):
    listed = matrix.tocoo()
    table = np.full(matrix.shape, np.inf)
    table[listed.row, listed.col] = listed.data
    return table


def random(seed, n, m, density=0.4, form="csr"):
    rng = np.random.default_rng(seed)
    row, col = np.nonzero(rng.random((n, m)) < density)
    return sparse.coo_array((rng.integers(0, 9, len(row)).astype(float), (row, col)), shape=(n, m)).asformat(form)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("seed", range(8))
def test_a_list_is_solved_as_its_table_is(form, seed):
    matrix = random(seed, 7 + seed % 3, 8, form=form)
    table = table_of(matrix)
    forbid, unmatched = [[0, 1], [2, 2]], np.linspace(1, 6, len(table))
    for options in ({}, {"unmatched": 3.0}, {"unmatched": unmatched, "forbid": forbid}, {"gate": 5.0, "unmatched": 4.0}):
        ours, dense = hm.solve(matrix, **options), hm.solve(table, **options)
        assert (ours.status, len(ours)) == ("optimal", len(dense))
        assert ours.score == pytest.approx(dense.score)
        assert np.isfinite(table[ours.left, ours.right]).all()
    row, col = np.nonzero(np.isfinite(table))
    seed_pair = [[row[3], col[3]]]
    seeded = hm.solve(matrix, seeds=seed_pair, unmatched=3.0)
    assert seeded.assignment[row[3]] == col[3]
    assert seeded.score == pytest.approx(hm.solve(table, seeds=seed_pair, unmatched=3.0).score)


def problems(count=40):
    """Random lists: some without a full matching, with empty rows and columns, with explicit zeros, wide and tall, with nothing listed."""
    for seed in range(count):
        rng = np.random.default_rng(1000 + seed)
        n, m = rng.integers(1, 7, 2)
        matrix = random(seed, n, m, density=rng.choice([0.0, 0.25, 0.5, 0.9]), form=rng.choice(["csr", "csc", "coo"]))
        given = [{}, {"unmatched": float(rng.integers(1, 9))}, {"unmatched": rng.integers(0, 9, n).astype(float), "gate": 5.0}]
        given += [{"gate": 4.0}, {"forbid": [[rng.integers(n), rng.integers(m)]]}, {"maximize": True, "unmatched": 2.0}]
        listed = matrix.tocoo()
        if listed.nnz:
            at = rng.integers(listed.nnz)
            given += [{"seeds": [[listed.row[at], listed.col[at]]], "unmatched": 3.0}]
        for options in given:
            table = table_of(matrix)
            yield matrix, np.where(np.isinf(table), -np.inf, table) if options.get("maximize") else table, options


def test_every_option_is_that_of_the_table_and_verified():
    for matrix, table, options in problems():
        ours, dense = hm.solve(matrix, **options), hm.solve(table, **options)
        assert (ours.status, dense.status, len(ours)) == ("optimal", "optimal", len(dense))
        assert ours.score == pytest.approx(dense.score)
        # The proof of either holds for both, and proves its answer.
        for match in (ours, dense):
            for cost in (matrix, table):
                assert hm.verify(cost, match, **options) == pytest.approx(match.score, abs=1e-9)


def test_the_k_best_of_a_list_are_those_of_its_table():
    for matrix, table, options in problems(25):
        ours, dense = hm.k_best(matrix, 6, **options), hm.k_best(table, 6, **options)
        assert [match.score for match in ours] == pytest.approx([match.score for match in dense])
        assert len({tuple(match.assignment) for match in ours}) == len(ours)
        assert all(match.status == "optimal" for match in ours)
        if ours:
            assert ours[0].score == pytest.approx(hm.solve(matrix, **options).score)
        sign = -1 if options.get("maximize") else 1
        assert sorted(sign * match.score for match in ours) == [sign * match.score for match in ours]


def test_the_k_best_are_the_first_of_all_matchings():
    for seed in range(5):
        matrix = random(seed, 4, 5, 0.7)
        table = table_of(matrix)
        totals = [table[range(4), columns].sum() for columns in itertools.permutations(range(5), 4)]
        totals = sorted(total for total in totals if np.isfinite(total))
        if totals:
            assert [match.score for match in hm.k_best(matrix, 1000)] == pytest.approx(totals)
    assert hm.k_best(matrix, 0) == []
    with pytest.raises(hm.MatchError, match="k is -1"):
        hm.k_best(matrix, -1)


def test_a_bad_proof_gives_a_weak_bound_and_a_bad_match_none():
    matrix = random(3, 8, 9, 0.6)
    match = hm.solve(matrix, unmatched=9.0)
    left, right, crowd = match.proof
    match._proof = (left, right - 1.0, crowd)
    assert hm.verify(matrix, match, unmatched=9.0) < match.score
    worse = hm.k_best(matrix, 2, unmatched=9.0)[1]
    with pytest.raises(hm.MatchError, match="dual values"):
        hm.verify(matrix, worse, unmatched=9.0)
    worse._proof = (left, right, crowd)
    assert hm.verify(matrix, worse, unmatched=9.0) == pytest.approx(match.score) and worse.score >= match.score
    other = hm.solve(np.ones((8, 9)))
    with pytest.raises(hm.MatchError):
        hm.verify(matrix, other, unmatched=9.0)
    assert pickle.loads(pickle.dumps(match)).proof[0].tolist() == left.tolist()


def test_zeros_are_costs_and_absent_entries_are_forbidden():
    matrix = sparse.csr_array((np.array([0.0, 5.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert hm.solve(matrix).assignment.tolist() == [1, 0]
    assert hm.linear_sum_assignment(matrix)[1].tolist() == [1, 0]
    assert hm.solve(matrix, unmatched=2.0).assignment.tolist() == [0, -1]
    with pytest.raises(hm.MatchError):
        hm.linear_sum_assignment(sparse.csr_array(np.array([[1.0, 0.0], [1.0, 0.0]])))


def test_the_duals_prove_the_answer():
    matrix = random(1, 30, 40, 0.3)
    match = hm.solve(matrix, unmatched=4.0)
    left, right = match.duals
    listed = matrix.tocoo()
    assert (listed.data - left[listed.row] - right[listed.col] > -1e-9).all()
    total = left.sum() + right.sum()
    assert match.score == pytest.approx(total)


def test_points_are_matched_as_by_their_table_of_distances():
    rng = np.random.default_rng(5)
    for dimension in (2, 3):
        a, b = rng.random((60, dimension)), rng.random((50, dimension))
        distances = np.linalg.norm(a[:, None] - b[None], axis=2)
        for squared in (False, True):
            cost = np.where(distances <= 0.3, distances**2 if squared else distances, np.inf)
            dense = hm.solve(cost, unmatched=0.2)
            near = hm.match_points(a, b, gate=0.3, unmatched=0.2, squared=squared)
            assert near.status == "optimal" and near.score == pytest.approx(dense.score)
        cost = np.full_like(distances, np.inf)
        nearest = np.argsort(distances, axis=1)[:, :3]
        np.put_along_axis(cost, nearest, np.take_along_axis(distances, nearest, axis=1), axis=1)
        assert hm.match_points(a, b, nearest=3, unmatched=1.0).score == pytest.approx(hm.solve(cost, unmatched=1.0).score)
    assert len(hm.match_points(np.zeros((0, 2)), b[:, :2], gate=1.0)) == 0


def test_mistakes_are_said():
    with pytest.raises(hm.MatchError, match="gate"):
        hm.match_points([[0, 0]], [[0, 1]])
    with pytest.raises(hm.MatchError, match="NaN"):
        hm.match_points([[0, np.nan]], [[0, 1]], gate=1.0)
    with pytest.raises(hm.MatchError, match="at least 0"):
        hm.match_points([[0, 0]], [[0, 1]], gate=-1.0)
    with pytest.raises(hm.MatchError, match="linear"):
        hm.solve(sparse.csr_array(np.eye(2)), method="exact")
    for cost in (np.eye(2), sparse.csr_array(np.eye(2))):
        with pytest.raises(hm.MatchError, match="gate is nan"):
            hm.solve(cost, gate=np.nan)
        with pytest.raises(hm.MatchError, match="unmatched.*NaN"):
            hm.solve(cost, unmatched=np.nan)
    with pytest.raises(hm.MatchError, match="NaN at row 0, column 1"):
        hm.solve(sparse.csr_array([[1.0, np.nan]]))
    with pytest.raises(hm.MatchError, match="whole number"):
        hm.match_points([[0, 0]], [[0, 1]], nearest=1.5)
    with pytest.raises(TypeError):
        hm.min_weight_full_bipartite_matching(np.eye(2))
