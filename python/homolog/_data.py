"""Data sets: graphs, pairs of them, and their matches."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import MatchError
from ._graph import Graph, GraphLike, as_array, as_graph
from ._html import table
from ._pairs import are_tables, is_table, item_of

#: Two graphs, or two graphs and features of their pairs.
Pair = Any
Truth = NDArray[np.int64]


class DataSet:
    """Graphs by id, pairs of them, and their true matchings if these are known.

    Attributes
    ----------
    graphs : dict of str to Graph
    pairs : list of (left, right), or (left, right, features) if a pair has features
        What `Matcher.fit` takes for its pairs.
    y : list of numpy.ndarray of int, or None if nothing is known
        The right node of each left node, -1 for none, -2 if unknown.
    splits : list of str or None
        "train", "validation" or "test" for each pair.
    images : dict of str to Path
        Pictures of the graphs that have one.
    """

    def __init__(self, inner: _core.DataSet, folder: Path = Path(), is_turntable: bool = False) -> None:
        self._inner = inner
        self._folder, self._is_turntable = folder, is_turntable
        graphs = [(id, Graph._of(graph), image) for id, graph, image in inner.graphs()]
        self.graphs: dict[str, Graph] = {id: graph for id, graph, _ in graphs}
        self.images = {id: folder / image for id, _, image in graphs if image is not None}
        rows = inner.pairs()
        listed = [graph for _, graph, _ in graphs]
        self.pairs: list[Pair] = [
            (listed[left], listed[right]) if features is None else (listed[left], listed[right], features)
            for left, right, _, _, features in rows
        ]
        self.y: list[Truth | None] = [row[2] for row in rows]
        self.splits: list[str | None] = [row[3] for row in rows]

    def picture(self, id: str) -> Any:
        """The picture of a graph, as an array; that of the built-in sequence is rendered. None if there is none."""
        if self._is_turntable:
            return _core.DataSet.turntable_picture(list(self.graphs).index(id))
        if id not in self.images:
            return None
        import matplotlib.image

        return matplotlib.image.imread(self.images[id])

    def of(self, split: str) -> tuple[list[Pair], list[Truth | None]]:
        """Pairs and truths of one split."""
        chosen = [at for at, own in enumerate(self.splits) if own == split]
        return [self.pairs[at] for at in chosen], [self.y[at] for at in chosen]

    def all_pairs(self) -> DataSet:
        """Every graph with every later one; nodes with the same name match."""
        return DataSet(self._inner.paired(None, False), self._folder, self._is_turntable)

    def pairs_apart(self, baseline: int, *, split: bool = False) -> DataSet:
        """Each graph with the one `baseline` places later; nodes with the same name match."""
        return DataSet(self._inner.paired(baseline, split), self._folder, self._is_turntable)

    def to_json(self) -> str:
        """The text of a data-set file."""
        return self._inner.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a data-set file, which the program can also read."""
        write_whole(path, self.to_json())

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Pair]:
        return iter(self.pairs)

    def __repr__(self) -> str:
        return f"DataSet({len(self.graphs)} graphs, {len(self.pairs)} pairs)"

    def _repr_html_(self) -> str:
        rows = ((id, repr(graph)) for id, graph in self.graphs.items())
        return table(repr(self), ["id", "graph"], rows, len(self.graphs))


def load(
    path: str | os.PathLike[str],
    *,
    graph: str | None = None,
    landmark: str | None = None,
    attributes: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> DataSet:
    """Reads a file of graphs in any format that the program reads (docs/formats.md), and files that belong to it: ``net.nodes.csv`` next to ``net.csv``, pictures.

    "turntable" is the built-in sequence. Remarks on how a file was read (missing values, missing pictures) are warnings.

    Parameters
    ----------
    path : str or path
    graph, landmark : str, optional
        The columns of a table with the names of the graph and of the landmark, if not found by their headers.
    attributes, ignore : sequence of str
        Further columns of a table: node attributes, or left out.

    Examples
    --------
    >>> import homolog as hm
    >>> hm.load("turntable").pairs_apart(90)
    DataSet(111 graphs, 21 pairs)
    """
    place = Path(path)
    if str(path) == "turntable" and not place.exists():
        return DataSet(_core.DataSet.turntable(), is_turntable=True)
    if place.is_dir():
        place = place / "landmarks.csv"

    def beside(name: str, most: int) -> bytes | None:
        try:
            with (place.parent / name).open("rb") as file:
                # Python sets aside as many bytes as it is asked for, however short the file is.
                return file.read(most) if most <= 1 << 20 else file.read()[:most]
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, ValueError):
            return None

    columns = (graph, landmark, list(attributes), list(ignore))
    inner, notes = _core.DataSet.read(str(place), place.read_bytes(), columns, beside)
    for is_guess, sentence in notes:
        if not is_guess:
            warnings.warn(f"{place}: {sentence}", stacklevel=2)
    return DataSet(inner, place.parent)


def data_set(pairs: Sequence[Any], y: Sequence[Any] | None, tables: bool = False) -> tuple[_core.DataSet, list[Pair]]:
    """The pairs as a data set of the library: equal arrays and the same object are one graph, however many pairs it occurs in."""
    numbers: dict[Any, int] = {}
    graphs: list[Graph] = []
    # An id tells objects apart only while they live: a sequence may make its arrays on access.
    alive: list[Any] = []
    read: list[Pair] = []
    rows: list[tuple[int, int, list[int] | None, None, _core.PairFeatures | None]] = []

    def number(thing: GraphLike) -> int:
        array = as_array(thing)
        key = id(thing) if array is None else (array.shape, array.dtype.str, array.tobytes())
        if key not in numbers:
            alive.append(thing)
            numbers[key] = len(graphs)
            graphs.append(as_graph(thing if array is None else array))
        return numbers[key]

    listed = checked_pairs(pairs)
    tables = are_tables(listed, tables)
    shared: list[str] | None = None
    for at, pair in enumerate(listed):
        features = None
        if is_item(pair, tables):
            one, other, features = item_of(pair, tables, at)
            if features is not None and is_table(pair):
                before, shared = shared, [name for name in features.names if shared is None or name in shared]
                if before is not None and not shared:
                    found = ", ".join(features.names)
                    raise _indexed(MatchError(f"the pair at position {at} has no feature that those before it have: {found}"), at)
            pair = (one, other) if is_table(pair) or isinstance(pair, np.ndarray) else (pair[0], pair[1])
        left, right = number(pair[0]), number(pair[1])
        read.append((graphs[left], graphs[right]))
        truth = None if y is None else truth_array(y[at], graphs[left], graphs[right], at)
        rows.append((left, right, None if truth is None else truth.tolist(), None, features))
    named = [(str(at), graph._graph) for at, graph in enumerate(graphs)]
    return _core.DataSet(named, rows), read


def is_item(pair: Any, tables: bool) -> bool:
    """Whether a pair has features."""
    return is_table(pair) or isinstance(pair, np.ndarray) and pair.ndim == 3 and tables or len(pair) == 3


def checked_pairs(pairs: Any) -> Sequence[Any]:
    """Refuses anything that is not a list of pairs, and says what was expected."""
    expected = "expected a list of pairs (left, right), each a graph or an array of points, or of features of pairs (n, m, d)"
    if isinstance(pairs, DataSet):
        return pairs.pairs
    if isinstance(pairs, np.ndarray) and pairs.ndim <= 2 and pairs.dtype != object:
        raise MatchError(f"{expected}; found a {pairs.ndim}-D array of shape {pairs.shape}")
    if isinstance(pairs, (str, bytes, Mapping, Graph)) or not hasattr(pairs, "__len__") or hasattr(pairs, "tocoo"):
        raise MatchError(f"{expected}; found {type(pairs).__name__}")
    for at, pair in enumerate(pairs):
        if is_table(pair):
            continue
        if isinstance(pair, (str, bytes, Graph)) or not hasattr(pair, "__len__") or len(pair) not in (2, 3):
            raise _indexed(MatchError(f"{expected}; found {type(pair).__name__} at position {at}"), at)
        if len(pair) == 3 and isinstance(pair, np.ndarray) and pair.ndim != 3:
            raise _indexed(MatchError(f"{expected}; found an array of shape {pair.shape} at position {at}"), at)
    return pairs  # type: ignore[no-any-return]


def truth_array(truth: Any, left: Graph, right: Graph, at: int) -> Truth | None:
    """The matches as the right node of each left node: from such an array, (m, 2) pairs, a dict of names or numbers, or a Match."""
    if truth is None:
        return None
    if hasattr(truth, "assignment"):
        truth = truth.assignment
    if isinstance(truth, Mapping):
        rows = [[_node(i, left, "left", at), _node(k, right, "right", at)] for i, k in truth.items()]
        truth = np.array(rows, dtype=np.int64).reshape(-1, 2)
    numbers = np.asarray(truth)
    if numbers.dtype.kind == "f" and np.array_equal(numbers, np.round(numbers)):
        numbers = numbers.astype(np.int64)
    if numbers.size and numbers.dtype.kind not in "iu":
        raise _indexed(MatchError(f"y[{at}]: expected whole numbers, found {numbers.dtype}"), at)
    if numbers.ndim == 2 and numbers.shape[1] == 2:
        full = np.full(len(left), -1, dtype=np.int64)
        for i, k in numbers:
            if not 0 <= i < len(left):
                raise _indexed(MatchError(f"y[{at}]: there is no left node {i}, there are {len(left)}"), at)
            full[i] = k
        numbers = full
    if numbers.ndim != 1 or len(numbers) != len(left):
        found = f"shape {numbers.shape}"
        raise _indexed(MatchError(f"y[{at}]: expected one number for each of the {len(left)} left nodes, found {found}"), at)
    return numbers.astype(np.int64)


def _node(node: Any, graph: Graph, side: str, at: int) -> int:
    if node is None:
        return -1
    if not isinstance(node, str):
        return int(node)
    names = graph.names or []
    if node not in names:
        raise _indexed(MatchError(f"y[{at}]: the {side} graph has no node with the name {node!r}"), at)
    return names.index(node)


def _indexed(error: MatchError, at: int) -> MatchError:
    error.index = at
    return error


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Writes a file completely or not at all."""
    place = Path(path)
    beside = place.with_name(f".homolog-{os.getpid()}-{place.name}")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, place)
    finally:
        beside.unlink(missing_ok=True)
