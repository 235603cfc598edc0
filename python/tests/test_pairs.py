"""Features of pairs: every form of an item, learning, explanations, cross-validation, mistakes with their place."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import homolog as hm


def crowd(seed, frames=40):
    """Pairs of frames: boxes that move a little, some not seen again, with an appearance; X as dicts, and y."""
    rng = np.random.default_rng(seed)
    items, truths = [], []
    for _ in range(frames):
        n = int(rng.integers(4, 9))
        place = rng.random((n, 2)) * 300
        size = np.stack([rng.uniform(20, 30, n), rng.uniform(50, 80, n)], axis=1)
        looks = rng.normal(size=(n, 6))
        moved = place + rng.normal(0, 12, (n, 2))
        seen = np.flatnonzero(rng.random(n) < 0.85)
        order = rng.permutation(seen)
        left, right = np.hstack([place, size]), np.hstack([moved[order], size[order] * rng.uniform(0.95, 1.05, (len(order), 2))])
        items.append(hm.boxes(left, right, embeddings=(looks, looks[order] + rng.normal(0, 0.7, (len(order), 6)))))
        truth = np.full(n, -1)
        truth[order] = np.arange(len(order))
        truths.append(truth)
    return items, truths


@pytest.fixture(scope="module")
def fitted():
    items, truths = crowd(1)
    return hm.Matcher(unmatched=True).fit(items, truths)


def test_boxes_are_compared_as_trackers_do():
    x = hm.boxes([[0, 0, 2, 4]], [[1, 0, 2, 4], [0, 0, 2, 2]], embeddings=([[1, 0]], [[0, 2], [3, 0]]))
    assert list(x) == ["1-iou", "distance", "height", "width", "1-cosine"]
    np.testing.assert_allclose(x["1-iou"], [[1 - 2 / 6, 0.5]])
    np.testing.assert_allclose(x["distance"], [[0.25, 1 / 3]])
    np.testing.assert_allclose(x["height"], [[0, np.log(2)]])
    np.testing.assert_allclose(x["1-cosine"], [[1, 0]])
    same = hm.boxes([[0, 0, 2, 4]], [[1, 0, 3, 4]], form="xyxy")
    np.testing.assert_allclose(same["1-iou"], [[1 - 4 / 8 / (12 / 8)]])
    assert hm.boxes(np.zeros((0, 4)), [[0, 0, 1, 1]])["1-iou"].shape == (0, 1)
    with pytest.raises(hm.MatchError):
        hm.boxes([[0, 0, 0, 1]], [[0, 0, 1, 1]])


def test_learning_from_pairs(fitted):
    items, truths = crowd(2)
    assert fitted.feature_names_ == ["1-iou", "distance", "height", "width", "1-cosine", "unmatched"]
    assert fitted.score(items, truths) > 0.9
    found = fitted.predict(items)
    assert np.mean([np.mean(own == truth) for own, truth in zip(found, truths)]) > 0.9
    match = fitted.match(items[0])
    np.testing.assert_array_equal(match.assignment, found[0])
    assert match.status == "optimal" and len(match.margins) == len(match)
    explanation = fitted.explain(items[0])
    assert sum(explanation.contributions(0).values()) == pytest.approx(explanation.matches[0]["margin"])
    again = hm.Matcher.from_json(fitted.to_json())
    np.testing.assert_array_equal(again.predict(items)[0], found[0])


def test_every_form_of_an_item_is_the_same(fitted):
    sparse = pytest.importorskip("scipy.sparse")
    items, truths = crowd(3, 12)
    names = list(items[0])
    arrays = [np.stack([item[name] for name in names], axis=2) for item in items]
    by_array = hm.Matcher("attributes", unmatched=True).fit(arrays, truths)
    by_name = hm.Matcher("attributes", unmatched=True).fit(items, truths)
    assert by_array.feature_names_ == ["0", "1", "2", "3", "4", "unmatched"]
    np.testing.assert_array_equal(by_array.weights_, by_name.weights_)
    lists = [{name: sparse.csr_array(table + 1) for name, table in item.items()} for item in items]
    for item in lists:
        for matrix in item.values():
            matrix.data -= 1
    by_list = hm.Matcher("attributes", unmatched=True).fit(lists, truths)
    np.testing.assert_allclose(by_list.weights_, by_name.weights_, rtol=1e-9)
    triples = [(hm.Graph(nodes=len(item["height"])), hm.Graph(nodes=item["height"].shape[1]), item) for item in items]
    np.testing.assert_array_equal(hm.Matcher("attributes", unmatched=True).fit(triples, truths).weights_, by_name.weights_)
    # Two left nodes and three features look like two sets of points in space, but not to a model that has features of pairs.
    np.testing.assert_array_equal(by_array.predict([arrays[0][:2]])[0], by_array.match(arrays[0][:2]).assignment)


def test_infinities_and_absent_entries_forbid(fitted):
    item = {name: table.copy() for name, table in crowd(4, 1)[0][0].items()}
    before = fitted.match(item)
    i, k = before.left[0], before.right[0]
    item["distance"][i, k] = np.inf
    after = fitted.match(item)
    assert after.assignment[i] != k
    item["height"][1, 0] = np.nan
    with pytest.raises(hm.MatchError, match="height.*NaN at row 1, column 0") as error:
        fitted.match(item)
    assert (error.value.row, error.value.column) == (1, 0)


def test_cross_validation(fitted):
    selection = pytest.importorskip("sklearn.model_selection")
    items, truths = crowd(5, 24)
    scores = selection.cross_val_score(hm.Matcher("attributes", unmatched=True, lam=0.01), items, truths, cv=3)
    assert scores.mean() > 0.8


def test_mistakes_are_said(fitted):
    items, truths = crowd(6, 3)
    with pytest.raises(hm.MatchError, match="feature of pairs"):
        fitted.match({"1-iou": np.zeros((2, 2))})
    with pytest.raises(hm.MatchError, match="expected"):
        hm.Matcher().fit([np.zeros((2, 2))], [[0, 1]])
    with pytest.raises(hm.MatchError):
        hm.Matcher().fit([{}], [[0, 1]])
    with pytest.raises(hm.MatchError, match="position 1 has no feature that those before it have: b"):
        hm.Matcher().fit([{"a": np.eye(2)}, {"b": np.eye(2)}], [[0, 1], [0, 1]])
    with pytest.raises(hm.MatchError, match="columns: expected 2, found 3"):
        hm.Matcher().fit([{"a": np.zeros((2, 2)), "b": np.zeros((2, 3))}], [[0, 1]])


def test_tracks_are_read_and_learned_from(tmp_path, monkeypatch):
    folder = __import__("os").environ.get("HOMOLOG_DATA")
    place = __import__("pathlib").Path(folder or "../../shared/data") / "tracks"
    truth = "1,7,0,0,10,20,1\n1,8,100,0,10,20,1\n2,7,2,0,10,20,1\n"
    (tmp_path / "a.gt.txt").write_text(truth)
    (tmp_path / "a.det.txt").write_text("1,-1,1,0,10,20,.9\n1,-1,101,0,10,20,.9\n2,-1,3,0,10,20,.8\n2,-1,300,0,10,20,.8\n")
    tracks = hm.Tracks.read(tmp_path / "a.det.txt", tmp_path / "a.gt.txt")
    assert tracks.y[0].tolist() == [0, -1] and tracks.links == [(1, 2)]
    assert (tracks.leaves(0).tolist(), tracks.enters(0).tolist()) == ([1], [1])
    # The same file through the reader that finds the truth beside it.
    assert hm.load(tmp_path / "a.det.txt").y[0].tolist() == [0, -1]
    if not place.is_dir():
        pytest.skip("no shared data")
    real = hm.Tracks.read(place / "TUD-Stadtmitte.det.txt", place / "TUD-Stadtmitte.gt.txt")
    half = len(real.X) // 2
    model = hm.Matcher().fit(real.X[:half], real.y[:half])
    assert model.score(real.X[half:], real.y[half:]) > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_mahalanobis_is_that_of_numpy(seed):
    rng = np.random.default_rng(seed)
    for d in (1, 2, 4, 7):
        a, b, root = rng.normal(size=(6, d)), rng.normal(size=(5, d)), rng.normal(size=(6, d, d))
        spread = root @ root.transpose(0, 2, 1) + 0.1 * np.eye(d)
        apart = a[:, None] - b[None]
        own = np.sqrt(np.einsum("ikx,ixy,iky->ik", apart, np.linalg.inv(spread), apart))
        np.testing.assert_allclose(hm.mahalanobis(a, b, spread), own, rtol=1e-9)
        shared = np.sqrt(np.einsum("ikx,xy,iky->ik", apart, np.linalg.inv(spread[0]), apart))
        np.testing.assert_allclose(hm.mahalanobis(a, b, spread[0]), shared, rtol=1e-9)
    assert hm.mahalanobis(np.zeros((0, 2)), [[1, 2]], np.eye(2)).shape == (0, 1)


def test_boxes_under_a_covariance():
    left, right = np.array([[0, 0, 2, 4], [9, 9, 3, 3.0]]), np.array([[1, 0, 2, 4], [5, 5, 1, 2], [9, 8, 3, 3.0]])
    centre = lambda boxes: np.hstack([boxes[:, :2] + boxes[:, 2:] / 2, boxes[:, 2:]])
    whole = np.diag([4.0, 9.0, 1.0, 2.0]) + 0.1
    x = hm.boxes(left, right, covariance=whole)
    assert list(x) == ["1-iou", "distance", "height", "width", "mahalanobis"]
    np.testing.assert_allclose(x["mahalanobis"], hm.mahalanobis(centre(left), centre(right), whole))
    own = np.stack([np.eye(2), 4 * np.eye(2)])
    found = hm.boxes(left, right, covariance=own)["mahalanobis"]
    np.testing.assert_allclose(found, hm.mahalanobis(centre(left)[:, :2], centre(right)[:, :2], own))
    for bad in (np.eye(3), [[1, 2], [2, 1]], [[1, np.nan], [np.nan, 1]], np.stack([np.eye(2)] * 3), [1.0, 2.0]):
        with pytest.raises(hm.MatchError, match="covariance"):
            hm.boxes(left, right, covariance=bad)
    with pytest.raises(hm.MatchError, match="left vectors.*NaN at row 0, column 1"):
        hm.mahalanobis([[0, np.nan]], [[0, 0]], np.eye(2))


@pytest.mark.parametrize("features", ["auto", "attributes"])
def test_an_update_is_a_fit_with_all_pairs(features):
    items, truths = crowd(7, 14)
    model = hm.Matcher(features, unmatched=True).fit(items[:12], truths[:12])
    model.update(items[12], truths[12]).update(items[13], {i: k for i, k in enumerate(truths[13]) if k >= 0})
    fresh = hm.Matcher(features, unmatched=True).fit(items, truths)
    assert model.to_json() == fresh.to_json()
    # A correction: the match of a pair that is already there.
    wrong = truths[3][::-1].copy()
    corrected = hm.Matcher(features, unmatched=True).fit(items, [*truths[:3], wrong, *truths[4:]]).update(items[3], truths[3])
    assert corrected.to_json() == fresh.to_json()


def test_an_update_may_keep_what_was_chosen():
    items, truths = crowd(8, 14)
    # With λ given, weights before learning are not among the candidates.
    model = hm.Matcher(unmatched=True, lam=[1.0, 0.01]).fit(items[:12], truths[:12])
    settings = json.loads(model._model.settings_json())
    learner = next(own["learner"] for own in model.fit_report_.candidates if own["chosen"])
    given = hm.Matcher(settings["features"], learner=learner, lam=model.lam_, unmatched=True).fit(items[:13], truths[:13])
    model.update(items[12], truths[12], choose=False)
    assert model.to_json() == given.to_json() and model.lam_ == given.lam_
    model.update(items[13], truths[13], choose=False)
    assert model.score(items, truths) > 0.9


def test_updates_need_what_was_learned_from(fitted):
    items, truths = crowd(9, 2)
    with pytest.raises(hm.NotFittedError):
        hm.Matcher().update(items[0], truths[0])
    for model in (hm.Matcher.from_json(fitted.to_json()), pickle.loads(pickle.dumps(fitted))):
        with pytest.raises(hm.MatchError, match="earlier fit"):
            model.update(items[0], truths[0])
    before = fitted.to_json()
    with pytest.raises(hm.MatchError, match="expected one number"):
        fitted.update(items[0], [0])
    bad = {name: np.where(table == table.max(), np.nan, table) for name, table in items[0].items()}
    with pytest.raises(hm.MatchError, match="NaN"):
        fitted.update(bad, truths[0])
    assert fitted.to_json() == before


def test_tracks_of_tables():
    pd = pytest.importorskip("pandas")
    plain = pd.DataFrame({"frame": [1, 1, 2, 2], "track_id": [7, 8, 8, 7], "x": [0, 9, 8, 1], "y": [0.0, 0, 0, 0]})
    tracks = hm.Tracks.from_table(plain, size=2)
    assert tracks.y[0].tolist() == [1, 0] and tracks.frames[0][1][0].tolist() == [-1, -1, 2, 2]
    assert hm.Tracks.from_table(plain).frames[0][1][0].tolist() == [-4, -4, 8, 8]
    # TrackMate: capitals, three rows of words below the header, spots without a track.
    units = pd.DataFrame({"TRACK_ID": ["Track ID", "Track ID", ""], "FRAME": ["Frame", "Frame", ""], "POSITION_X": ["X", "X", "(micron)"], "POSITION_Y": ["Y", "Y", "(micron)"], "RADIUS": ["R", "R", "(micron)"]})
    spots = pd.DataFrame({"TRACK_ID": ["0", "", "0"], "FRAME": ["0", "0", "1"], "POSITION_X": ["1", "5", "1.5"], "POSITION_Y": ["1", "5", "1"], "RADIUS": ["2", "2", "2"]})
    tracks = hm.Tracks.from_table(pd.concat([units, spots]))
    assert tracks.frames[0][2] == [0, None] and tracks.y[0].tolist() == [0, -1] and tracks.frames[0][1][0].tolist() == [-1, -1, 4, 4]
    # py-motmetrics: frame and id are the index, x and y the corner.
    motion = pd.DataFrame({"FrameId": [1, 2], "Id": [3, 3], "X": [5, 6], "Y": [5, 5], "Width": [2, 2], "Height": [4, 4]}).set_index(["FrameId", "Id"])
    assert hm.Tracks.from_table(motion).frames[0][1].tolist() == [[5, 5, 2, 4]]
    with pytest.raises(hm.MatchError, match='there is no column "track_id"'):
        hm.Tracks.from_table(plain.drop(columns="track_id"))
    with pytest.raises(hm.MatchError, match="line 4.*left"):
        hm.Tracks.from_table(plain.assign(x=[0, 1, "left", 3]))
    for change in ({"frame": [0, 0.5, 1, 1]}, {"frame": [0, 0, 1e300, 1]}, {"track_id": [5.5, 6, 6, 5]}, {"track_id": [np.inf, 6, 6, 5]}):
        with pytest.raises(hm.MatchError, match="is not a whole number"):
            hm.Tracks.from_table(plain.assign(**change))
    with pytest.raises(hm.MatchError, match="no detections"):
        hm.Tracks.from_table(plain[:0])
    with pytest.raises(hm.MatchError, match="expected a table"):
        hm.Tracks.from_table([1, 2])
