"""Graph and everything that can be read as one; data sets and their files."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import homolog as hm


def everything():
    return hm.Graph(
        [[0, 0], [2, 0.1], [1, 2]],
        names=["base", "tip", "notch"],
        attributes={"size": [1, 2, 3], "hue": [0.1, 0.2, 0.3]},
        edges=[[0, 1], ["tip", "notch"]],
        edge_attributes={"length": [2.0, 2.5]},
        context=[[5, 5]],
        image_size=(640, 480),
    )


def test_every_part_comes_back():
    graph = everything()
    assert graph.points.shape == (3, 2) and graph.names == ["base", "tip", "notch"]
    assert graph.attributes["hue"].tolist() == [0.1, 0.2, 0.3]
    assert sorted(map(tuple, graph.edges.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.edge_attributes["length"].tolist() == [2.0, 2.0, 2.5, 2.5]
    assert graph.context.tolist() == [[5, 5]] and graph.image_size == (640, 480) and len(graph) == 3
    for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph), hm.as_graph(graph)):
        assert again == graph


def test_a_directed_graph_without_points():
    graph = hm.Graph(nodes=3, edges=[[0, 1], [1, 2]], directed=True)
    assert graph.edges.tolist() == [[0, 1], [1, 2]] and graph.points is None
    assert repr(graph) == "Graph(3 nodes, 2 directed edges)"


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_points_of_any_kind(rng, dtype):
    points = (rng.random((5, 2)) * 90).astype(dtype)
    for given in (points, np.asfortranarray(points), points[::-1], points.tolist()):
        np.testing.assert_allclose(hm.Graph(given).points, np.asarray(given, dtype=float))
    assert len(hm.Graph(np.zeros((0, 3)))) == 0 and hm.Graph(np.zeros((0, 3))).points.shape == (0, 3)


def test_wrong_graphs_say_what_was_expected():
    for wrong, message in [
        (np.ones(3), r"shape \(n, 2\) or \(n, 3\)"),
        (np.ones((3, 4)), r"found an array of shape \(3, 4\)"),
        ([["a", "b"]], "expected numbers"),
    ]:
        with pytest.raises(hm.MatchError, match=message):
            hm.Graph(wrong)
    with pytest.raises(hm.MatchError) as caught:
        hm.Graph([[0, 0], [1, np.nan]])
    assert (caught.value.row, caught.value.column) == (1, 1)
    with pytest.raises(hm.MatchError, match="how many nodes"):
        hm.Graph()
    with pytest.raises(hm.MatchError, match="no node with the name"):
        hm.Graph([[0, 0]], names=["a"], edges=[["a", "b"]])
    with pytest.raises(hm.MatchError, match="occurs twice"):
        hm.Graph([[0, 0], [1, 1]], names=["a", "a"])


def test_pandas_and_networkx():
    pd, nx = pytest.importorskip("pandas"), pytest.importorskip("networkx")
    frame = pd.DataFrame({"image": list("aab"), "landmark": ["tip", "base", "tip"], "x": [0, 1, 2], "y": [3, 4, 5.5]})
    graphs = hm.Graph.from_dataframe(frame, coords=("x", "y"), name="landmark", graph="image")
    assert list(graphs) == ["a", "b"] and graphs["a"].names == ["tip", "base"]
    assert graphs["b"].points.tolist() == [[2, 5.5]]
    assert hm.as_graph(frame[frame.image == "a"]).names == ["tip", "base"]
    with pytest.raises(hm.MatchError, match="no column 'z'"):
        hm.Graph.from_dataframe(frame, coords=("x", "z"))
    network = nx.path_graph(["u", "v", "w"])
    nx.set_edge_attributes(network, 2.0, "weight")
    nx.set_node_attributes(network, {"u": (0, 0), "v": (1, 0), "w": (2, 1)}, "pos")
    graph = hm.Graph.from_networkx(network, pos="pos", edge_attributes=["weight"])
    assert graph.names == ["u", "v", "w"] and graph.points.tolist() == [[0, 0], [1, 0], [2, 1]]
    assert len(graph.edges) == 4 and graph.edge_attributes["weight"].tolist() == [2.0] * 4
    assert hm.as_graph(network) == graph
    one_way = hm.Graph.from_networkx(nx.DiGraph([(0, 1), (1, 2)]))
    assert one_way.edges.tolist() == [[0, 1], [1, 2]]


def test_a_dict_as_in_the_file():
    fields = {"points": np.array([[0.0, 0], [1, 2]]), "names": ("base", "tip"), "edges": [["base", "tip"]]}
    graph = hm.as_graph(fields)
    assert graph.names == ["base", "tip"] and len(graph.edges) == 2
    with pytest.raises(hm.MatchError, match="unknown field"):
        hm.as_graph({"pointz": [[0, 0]]})


def test_data_sets_are_files(tmp_path, frames):
    data = frames.pairs_apart(100, split=True)
    assert len(data) == 11 and data.y[0].tolist() == list(range(30))
    assert set(data.splits) == {"train", "validation", "test"} and len(data.of("test")[0]) == data.splits.count("test")
    data.save(tmp_path / "data.json")
    again = hm.load(tmp_path / "data.json")
    assert again.to_json() == data.to_json() and again.pairs[0][0] == data.pairs[0][0]
    table = tmp_path / "wings.csv"
    table.write_text("image,landmark,x,y\na,tip,0,1\na,base,2,3\nb,tip,4,5\nb,base,5,7\n")
    wings = hm.load(table)
    assert list(wings.graphs) == ["a", "b"] and wings.all_pairs().y[0].tolist() == [0, 1]
    table.write_text("image,landmark,x,y\na,tip,0,oops\n")
    with pytest.raises(hm.MatchError, match="line 2"):
        hm.load(table)
    (tmp_path / "data.xyz").write_text("")
    with pytest.raises(hm.MatchError, match="unrecognised file type"):
        hm.load(tmp_path / "data.xyz")
    (tmp_path / "net.csv").write_text("source,target\na,b\nb,c\n")
    assert len(hm.load(tmp_path / "net.csv").graphs["net"].edges) == 4
    (tmp_path / "wings.tps").write_text("LM=2\n1 2\n3 4\nID=w1\n")
    assert list(hm.load(tmp_path / "wings.tps").graphs) == ["w1"]
    with pytest.raises(FileNotFoundError):
        hm.load(tmp_path / "nothing.json")
