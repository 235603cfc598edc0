"""join: specimens without labels get one consistent naming; an atlas learns also from unlabelled specimens."""

from __future__ import annotations

import numpy as np
import pytest

import homolog as hm


@pytest.fixture(scope="module")
def specimens(frames):
    return list(frames.graphs.values())


def test_points_in_any_order_and_pose_get_the_true_groups(specimens, rng):
    orders = [rng.permutation(len(one.points)) for one in specimens[0:40:8]]
    angles = rng.uniform(0, 2 * np.pi, len(orders))
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in angles]
    points = {f"s{k}": one.points[order] @ turn for k, (one, order, turn) in enumerate(zip(specimens[0:40:8], orders, turns))}
    joined = hm.join(points, pose="rotated")
    assert joined.ids == list(points) and repr(joined) == "Joined(5 specimens, 30 names)"
    for left, right in [(0, 4), ("s3", "s1")]:
        own, other = (orders[one if isinstance(one, int) else int(one[1:])] for one in (left, right))
        matched = joined.match(left, right)
        assert len(matched) == 30 and all(own[i] == other[j] for i, j in matched)
    assert all((sure > 0.5).all() for sure in joined.confidence)
    assert all(points is not None for row in joined.table.values() for points in row)
    assert joined.report["names"] == 30 and "consistent" in str(joined)


def test_labelled_specimens_give_their_names_and_the_atlas_names_new_ones(specimens):
    joined = hm.join([specimens[0], *(one.points for one in specimens[8:40:8])])
    assert joined.names[0] == specimens[0].names
    assert joined.atlas.predict(specimens[20].points) == specimens[20].names


def test_tilted_specimens_and_pictures(frames, specimens):
    chosen = range(0, 40, 8)
    tilts = np.radians([0, 30, -25, 40, -35])
    turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in tilts]
    joined = hm.join([specimens[k].points @ turn for k, turn in zip(chosen, turns)], pose="tilted")
    assert joined.report["pose"] == "tilted" and joined.match(0, 3) == [(point, point) for point in range(30)]
    ids = list(frames.graphs)
    pictures = [frames.picture(ids[k]) for k in chosen]
    seen = hm.join([specimens[k].points for k in chosen], pictures=pictures)
    assert seen.match(0, 4) == [(point, point) for point in range(30)]
    with pytest.raises(hm.MatchError, match="2 pictures of 5 specimens"):
        hm.join([specimens[k].points for k in chosen], pictures=pictures[:2])


def test_mistakes_are_refused(specimens):
    with pytest.raises(hm.MatchError, match="at least two"):
        hm.join([specimens[0].points])
    with pytest.raises(hm.MatchError):
        hm.join([specimens[0].points, np.zeros((4, 3))])


def test_unlabelled_specimens_give_one_labelled_one_confidence(specimens):
    atlas = hm.Atlas().fit(specimens[0:1], unlabelled=[one.points for one in specimens[5:45:8]])
    assert atlas.n_specimens_ == 6 and "unlabelled" in atlas.report_
    naming = atlas.name(specimens[25].points)
    assert naming.names == specimens[25].names and np.isfinite(naming.confidence).all()
