"""What can be given as data: files with what lies beside them, arrays, tables, tensors."""

import numpy as np
import pytest

import homolog as hm


def drawn(count: int = 9, nodes: int = 30, seed: int = 3) -> tuple[np.ndarray, list[np.ndarray]]:
    """Pairs that no matcher gets all right: the second set is noisy and shuffled."""
    random = np.random.default_rng(seed)
    pairs, truths = [], []
    for _ in range(count):
        left = random.uniform(0, 100, (nodes, 2))
        order = random.permutation(nodes)
        right = (left + random.normal(0, 12, left.shape))[order]
        pairs.append([left, right])
        truths.append(np.argsort(order))
    return np.array(pairs), truths


class OnAccess:
    """Makes its arrays when they are asked for and keeps none, as an HDF5 file or a torch data set does."""

    def __init__(self, pairs: np.ndarray) -> None:
        self._pairs = pairs

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, at: int) -> tuple[np.ndarray, np.ndarray]:
        if at >= len(self):
            raise IndexError
        return self._pairs[at, 0].copy(), self._pairs[at, 1].copy()


class Tensor:
    """What a tensor on the processor is to numpy; one that needs a gradient refuses."""

    def __init__(self, values: np.ndarray, refuses: bool = False) -> None:
        self._values, self._refuses = values, refuses

    def __len__(self) -> int:
        return len(self._values)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if self._refuses:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self._values.astype(dtype or self._values.dtype)


def test_no_graph_is_paired_with_itself():
    from homolog._data import data_set

    pairs, truths = drawn()
    shapes = {"array": pairs, "list of arrays": list(pairs), "made on access": OnAccess(pairs)}
    shapes["tensors"] = [(Tensor(left), Tensor(right)) for left, right in pairs]
    for name, given in shapes.items():
        inner, read = data_set(given, truths)
        assert len(inner.graphs()) == 18, name
        for (left, right), expected in zip(read, pairs):
            assert left.points.tolist() == expected[0].tolist() and right.points.tolist() == expected[1].tolist(), name
    few, known = OnAccess(pairs[:3, :, :8]), [np.arange(8)] * 3
    matcher = hm.Matcher("linear", lam=1.0).fit(few, known)
    kept = [(left.copy(), right.copy()) for left, right in pairs[:3, :, :8]]
    assert [found.tolist() for found in matcher.predict(few)] == [found.tolist() for found in matcher.predict(kept)]
    assert matcher.score(few, known) == matcher.score(kept, known) < 1


def test_equal_arrays_are_one_graph():
    from homolog._data import data_set

    points = np.random.default_rng(0).uniform(size=(5, 2))
    inner, _ = data_set([(points.copy(), points + 1), (points.copy(), points + 2)], None)
    assert len(inner.graphs()) == 3


def test_an_array_that_is_refilled_is_read_each_time():
    from homolog._data import data_set

    buffer = np.zeros((4, 2))

    class Refilled:
        def __len__(self) -> int:
            return 2

        def __iter__(self):
            for at in range(2):
                buffer[:] = at
                yield buffer, np.ones((4, 2)) * 7

    inner, _ = data_set(Refilled(), None)
    assert [graph.points[0, 0] for _, graph, _ in inner.graphs()] == [0.0, 7.0, 1.0]


def test_a_network_is_read_with_its_table_of_nodes(tmp_path):
    (tmp_path / "net.csv").write_text("source,target,weight\na,b,0.5\nb,c,2\n")
    (tmp_path / "net.nodes.csv").write_text("node,size,age\nc,3,1\nb,2,1\na,1,5\n")
    graph = hm.load(tmp_path / "net.csv").graphs["net"]
    assert graph.names == ["c", "b", "a"]
    assert graph.attributes["size"].tolist() == [3, 2, 1]
    (tmp_path / "net.nodes.csv").write_text("node,size\nc,3\nb,two\n")
    with pytest.raises(hm.MatchError, match='net.nodes.csv, line 3: "two" is not a finite number'):
        hm.load(tmp_path / "net.csv")


def test_columns_of_a_table_can_be_named(tmp_path):
    place = tmp_path / "wings.csv"
    place.write_text("wing,landmark,x,y,mass\na,tip,0,1,5\nb,tip,2,3,6\n")
    with pytest.raises(hm.MatchError, match='wings.csv, line 1: unknown column "wing"'):
        hm.load(place)
    data = hm.load(place, graph="wing", attributes=["mass"])
    assert list(data.graphs) == ["a", "b"]
    assert data.graphs["b"].attributes["mass"].tolist() == [6]


def test_pictures_beside_a_table_are_found(tmp_path):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "7.png").write_bytes(b"x")
    (tmp_path / "landmarks.csv").write_text("frame,landmark,x,y\n7,tip,0,1\n8,tip,2,3\n")
    data = hm.load(tmp_path)
    assert data.images == {"7": tmp_path / "images" / "7.png"}


def test_every_column_of_a_data_frame_counts():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"landmark": ["tip", "base"], "x": [0, 1], "y": [2, 3], "mass": [0.5, 0.7], "red": [True, False]})
    graph = hm.Graph.from_dataframe(frame)
    assert graph.names == ["tip", "base"] and graph.points.tolist() == [[0, 2], [1, 3]]
    assert {name: column.tolist() for name, column in graph.attributes.items()} == {"mass": [0.5, 0.7], "red": [1, 0]}
    flipped = frame.assign(y=-frame["y"])
    model = hm.Matcher("attributes", lam=1.0).fit([(frame, flipped)], [[0, 1]])
    assert model.predict([(frame, flipped)])[0].tolist() == [0, 1]
    with pytest.raises(hm.MatchError, match="the column 'sex' has no numbers"):
        hm.as_graph(frame.assign(sex=["m", "f"]))
    with pytest.raises(hm.MatchError, match="the column 'image' names 2 graphs"):
        hm.Graph.from_dataframe(frame.assign(image=["a", "b"]))
    # A group of a larger table still has the column that told it apart.
    assert list(hm.Graph.from_dataframe(frame.assign(image="a")).attributes) == ["mass", "red"]
    assert hm.Graph.from_dataframe(frame, attributes=[]).attributes == {}


def test_tables_of_polars_and_pyarrow_are_read_like_those_of_pandas():
    columns = {"name": ["tip", "base"], "x": [0.0, 1.0], "y": [2.0, 3.0], "mass": [0.5, 0.7]}
    expected = hm.Graph([[0, 2], [1, 3]], names=["tip", "base"], attributes={"mass": [0.5, 0.7]})
    tables = []
    for library, build in [("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")]:
        try:
            tables.append(getattr(__import__(library), build)(columns))
        except ImportError:
            continue
    for table in tables:
        assert hm.Graph.from_dataframe(table) == expected, type(table)
        assert hm.as_graph(table) == expected, type(table)


def test_tensors_of_torch_are_read_like_arrays():
    torch = pytest.importorskip("torch")
    costs = [[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]]
    assert hm.solve(torch.tensor(costs)).score == hm.solve(np.array(costs)).score
    assert [side.tolist() for side in hm.linear_sum_assignment(torch.tensor(costs))] == [[0, 1, 2], [1, 0, 2]]
    points = torch.tensor([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]])
    assert hm.as_graph(points) == hm.as_graph(points.numpy())


def test_what_cannot_be_an_array_says_so():
    points = np.zeros((3, 2))
    with pytest.raises(hm.MatchError, match="Tensor cannot be read as an array: Can't call numpy"):
        hm.Matcher("linear").fit([(Tensor(points, refuses=True), Tensor(points))], [[0, 1, 2]])
