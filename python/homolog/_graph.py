"""Graph: points, names, attributes and edges; and everything that can be read as a graph."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._html import table

Attributes = Union[Mapping[str, ArrayLike], ArrayLike]
#: Anything that :func:`as_graph` accepts as a graph.
GraphLike = Any


class Graph:
    """Nodes with their points, names, attributes and edges; any part may be left out.

    Parameters
    ----------
    points : array_like, shape (n, 2) or (n, 3), optional
        One row of coordinates per node.
    names : sequence of str, optional
        One per node; an empty one means an unnamed node.
    attributes : dict of name to array_like, or array_like of shape (n, k), optional
        Numbers of the nodes; columns of an array are called "0", "1", ... A column of text "kind" becomes one column of 0 and 1 per text,
        "kind=city"; with more than 64 different texts, or all different, it is left out with a warning. None and "" are no text.
    edges : array_like of int, shape (e, 2), optional
        Pairs of nodes, by number or by name.
    directed : bool, default False
        An edge leads from its first to its second node only.
    edge_attributes : as `attributes`, one row per edge, optional
    context : array_like, shape (c, 2) or (c, 3), optional
        Further points that descriptors see but that are not matched.
    image_size : (width, height), optional
        Size of the picture in which the points were found.
    nodes : int, optional
        How many nodes there are, if nothing else says so.

    Examples
    --------
    >>> import homolog as hm
    >>> kite = hm.Graph([[0, 0], [2, 1], [0, 3]], names=["tail", "wing", "nose"], edges=[[0, 1], ["wing", "nose"]])
    >>> kite
    Graph(3 nodes, 2-D points, names, 4 directed edges)
    """

    __slots__ = ("_graph",)

    def __init__(
        self,
        points: ArrayLike | None = None,
        *,
        names: Iterable[object] | None = None,
        attributes: Attributes | None = None,
        edges: ArrayLike | None = None,
        directed: bool = False,
        edge_attributes: Attributes | None = None,
        context: ArrayLike | None = None,
        image_size: Sequence[float] | None = None,
        nodes: int | None = None,
    ) -> None:
        table = None if points is None else coordinates(points, "points")
        labels = None if names is None else [str(name) for name in names]
        attributes, texts = _split_texts(attributes)
        columns = None if attributes is None else _table(attributes, "attributes")
        count = _count(nodes, table, labels, columns, texts[0][1] if texts else None)
        size = None if image_size is None else (float(image_size[0]), float(image_size[1]))
        self._graph = _core.Graph(
            count,
            points=table,
            context=None if context is None else coordinates(context, "context"),
            names=labels,
            attributes=columns,
            edges=None if edges is None else _edges(edges, labels),
            directed=directed,
            edge_attributes=None if edge_attributes is None else _table(edge_attributes, "edge_attributes"),
            image_size=size,
            texts=texts,
        )
        for note in self._graph.notes:
            warnings.warn(note, UserWarning, stacklevel=2)

    @classmethod
    def _of(cls, graph: _core.Graph) -> Graph:
        made = cls.__new__(cls)
        made._graph = graph
        return made

    @classmethod
    def _from_json(cls, text: str) -> Graph:
        return cls._of(_core.Graph.from_json(text))

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Graph:
        """A graph as in a data-set file: points, names, attributes, edges, ... (docs/formats.md).

        Examples
        --------
        >>> import homolog as hm
        >>> hm.Graph.from_dict({"points": [[0, 0], [1, 2]], "names": ["base", "tip"]})
        Graph(2 nodes, 2-D points, names)
        """
        record = {key: _plain(value) for key, value in fields.items() if value is not None}
        record.setdefault("id", "graph")
        head = {"kind": "homolog-data", "version": 1}
        return cls._from_json(json.dumps({"format": head, "graphs": [record]}))

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        coords: Sequence[str] | None = None,
        name: str | None = None,
        graph: str | None = None,
        attributes: Sequence[str] | None = None,
    ) -> Any:
        """One graph from a table (pandas, polars, pyarrow) with a row per node; with `graph`, a dict with one for each value of that column.

        Columns are recognised by their headers: `x`, `y` and `z` are the coordinates, `landmark` or `name` (and the other headers in
        docs/formats.md) the names, all other columns attributes. A column that is not numeric is refused; `attributes` lists those to use.

        Examples
        --------
        >>> import pandas as pd, homolog as hm
        >>> frame = pd.DataFrame({"image": ["a", "a", "b"], "landmark": ["tip", "base", "tip"], "x": [0, 1, 2], "y": [3, 4, 5]})
        >>> hm.Graph.from_dataframe(frame, graph="image")["a"].names
        ['tip', 'base']
        """
        columns = table_columns(frame)
        if columns is None:
            raise MatchError(f"expected a table with columns (pandas, polars, pyarrow), found {type(frame).__name__}")
        for column in [*(coords or ()), *(attributes or ()), *([name] if name else []), *([graph] if graph else [])]:
            if column not in columns:
                raise MatchError(f"the table has no column {column!r}; it has {', '.join(columns)}")
        if graph is not None:
            labels = columns.pop(graph).tolist()
            rows: dict[Any, list[int]] = {}
            for row, label in enumerate(labels):
                rows.setdefault(label, []).append(row)
            parts = {label: {key: column[own] for key, column in columns.items()} for label, own in rows.items()}
            return {label: cls._from_columns(part, coords, name, attributes) for label, part in parts.items()}
        return cls._from_columns(columns, coords, name, attributes)

    @classmethod
    def _from_columns(
        cls,
        columns: dict[str, NDArray[Any]],
        coords: Sequence[str] | None,
        name: str | None,
        attributes: Sequence[str] | None,
    ) -> Graph:
        usual = {column.lower(): column for column in reversed(columns)}
        if coords is None:
            coords = [usual[axis] for axis in ("x", "y", "z") if axis in usual]
        if name is None:
            name = next((usual[word] for word in _NAME_COLUMNS if word in usual and usual[word] not in coords), None)
        count = len(next(iter(columns.values()), ()))
        if attributes is None:
            rest = [column for column in columns if column not in coords and column != name]
            # Groups of a larger table still have the column that told them apart.
            labels = [column for column in rest if column.lower() in _GRAPH_COLUMNS]
            for column in labels:
                values = len(set(columns[column].tolist()))
                if values > 1:
                    raise MatchError(
                        f"the column {column!r} names {values} graphs: Graph.from_dataframe(table, graph={column!r}) reads them, "
                        "and attributes=[...] says which columns to take if it is something else"
                    )
            attributes = [column for column in rest if column not in labels]
            for column in attributes:
                if not _is_numeric(columns[column]):
                    raise MatchError(
                        f"the column {column!r} has no numbers: drop it, or say what the columns are with "
                        "Graph.from_dataframe(table, name=..., attributes=[...])"
                    )
        names = None
        if name is not None:
            names = ["" if part is None or part != part else str(part) for part in columns[name].tolist()]
        return cls(
            np.stack([columns[axis].astype(float) for axis in coords], axis=1) if coords else None,
            names=names,
            attributes={column.removeprefix("attribute:"): columns[column].astype(float) for column in attributes} or None,
            nodes=count,
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        pos: str | Mapping[Any, ArrayLike] | None = None,
        attributes: Sequence[str] | None = (),
        edge_attributes: Sequence[str] | None = (),
        names: bool = True,
    ) -> Graph:
        """A networkx graph; its nodes, as text, are the names. `pos` is the node attribute with the coordinates, or a dict of them.

        `attributes` and `edge_attributes` are compared; None takes all that every node (every edge) has and that are numbers, or text of nodes.

        Examples
        --------
        >>> import networkx as nx, homolog as hm
        >>> hm.Graph.from_networkx(nx.path_graph(4))
        Graph(4 nodes, names, 6 directed edges)
        """
        nodes = list(graph.nodes)
        if isinstance(pos, str):
            places: Mapping[Any, Any] = graph.nodes(data=pos)
            places = dict(places)
        else:
            places = pos or {}
        number = {node: at for at, node in enumerate(nodes)}
        ends = [(number[a], number[b]) for a, b in graph.edges() if a != b]
        data = [fields for a, b, fields in graph.edges(data=True) if a != b]
        if attributes is None:
            attributes = [key for key in _shared([graph.nodes[node] for node in nodes], (str, *_NUMBERS)) if key != pos]
        if edge_attributes is None:
            edge_attributes = _shared(data, _NUMBERS)
        return cls(
            np.array([places[node] for node in nodes], dtype=float) if pos is not None else None,
            names=map(str, nodes) if names else None,
            attributes={key: [graph.nodes[node][key] for node in nodes] for key in attributes} or None,
            edges=np.array(ends, dtype=np.int64).reshape(-1, 2),
            directed=graph.is_directed(),
            edge_attributes={key: [fields[key] for fields in data] for key in edge_attributes} or None,
            nodes=len(nodes),
        )

    @property
    def points(self) -> NDArray[np.float64] | None:
        """Coordinates, one row per node."""
        return self._graph.points

    @property
    def context(self) -> NDArray[np.float64] | None:
        """Points that are seen but not matched."""
        return self._graph.context

    @property
    def names(self) -> list[str] | None:
        """One name per node."""
        return self._graph.names

    @property
    def attributes(self) -> dict[str, NDArray[np.float64]]:
        """Numbers of the nodes, by name."""
        return _columns(self._graph.attributes)

    @property
    def edges(self) -> NDArray[np.int64]:
        """The directed edges, one per row; an undirected edge appears both ways."""
        return self._graph.edges

    @property
    def edge_attributes(self) -> dict[str, NDArray[np.float64]]:
        """Numbers of the directed edges, by name."""
        return _columns(self._graph.edge_attributes)

    @property
    def image_size(self) -> tuple[float, float] | None:
        """Width and height of the picture in which the points were found."""
        return self._graph.image_size

    @property
    def scale(self) -> float | None:
        """The real length of a unit of the coordinates: the SCALE of a TPS file, whose points are in pixels."""
        return self._graph.scale

    @property
    def unit(self) -> str | None:
        """The unit of the coordinates, as a motion-capture file says."""
        return self._graph.unit

    @property
    def time(self) -> float | None:
        """When the points were recorded, in seconds: for a frame of a take."""
        return self._graph.time

    def __len__(self) -> int:
        return self._graph.node_count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and self._graph == other._graph

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (Graph._from_json, (self._graph.to_json(),))

    def __repr__(self) -> str:
        points = self.points
        parts = [f"{len(self)} nodes"]
        parts += [] if points is None else [f"{points.shape[1]}-D points"]
        parts += ["names"] if self.names is not None else []
        parts += [f"attributes {', '.join(self.attributes)}"] if self.attributes else []
        parts += [f"{len(self.edges)} directed edges"] if len(self.edges) else []
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        points, names, attributes = self.points, self.names, self.attributes
        columns: dict[str, Iterable[Any]] = {"node": range(len(self))}
        columns |= {} if names is None else {"name": names}
        columns |= {} if points is None else {axis: points[:, at] for at, axis in enumerate("xyz"[: points.shape[1]])}
        columns |= attributes
        return table(repr(self), list(columns), zip(*columns.values()), len(self))


def as_graph(thing: GraphLike) -> Graph:
    """Reads anything like a graph: a Graph, an (n, 2|3) array or tensor, a table (pandas, polars, pyarrow), a networkx graph, a dict as in a data-set file."""
    if isinstance(thing, Graph):
        return thing
    if isinstance(thing, _core.Graph):
        return Graph._of(thing)
    if isinstance(thing, Mapping) and not hasattr(thing, "nodes"):
        return Graph.from_dict(thing)
    if hasattr(thing, "nodes") and hasattr(thing, "edges"):
        has_pos = all("pos" in fields for _, fields in thing.nodes(data=True)) and len(thing) > 0
        return Graph.from_networkx(thing, pos="pos" if has_pos else None, attributes=None, edge_attributes=None)
    columns = table_columns(thing)
    if columns is not None:
        return Graph._from_columns(columns, None, None, None)
    array = as_array(thing)
    return Graph(thing if array is None else array)


def as_array(thing: Any) -> NDArray[Any] | None:
    """A numpy array, or what has the array protocol (a torch tensor on the processor), as an array; None for anything else."""
    if isinstance(thing, np.ndarray):
        return thing
    if isinstance(thing, Graph) or not hasattr(thing, "__array__") or table_columns(thing, look_only=True) is not None:
        return None
    try:
        return np.asarray(thing)
    except (TypeError, RuntimeError, ValueError) as error:
        raise MatchError(f"{type(thing).__name__} cannot be read as an array: {error}") from error


def table_columns(frame: Any, look_only: bool = False) -> dict[str, NDArray[Any]] | None:
    """The columns of a table of pandas, polars, pyarrow, or of whatever hands out an Arrow stream; None if it is no table."""
    if hasattr(frame, "columns") and hasattr(frame, "to_numpy"):
        names, column = list(frame.columns), frame.__getitem__
    elif hasattr(frame, "column_names") and hasattr(frame, "column"):
        names, column = list(frame.column_names), frame.column
    elif hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__array__"):
        try:
            import pyarrow
        except ImportError:
            raise MatchError(f"{type(frame).__name__} can be read if pyarrow is installed") from None
        return table_columns(pyarrow.table(frame), look_only)
    else:
        return None
    if look_only:
        return {}
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise MatchError(f"the table has the column {twice!r} twice")
    return {text: np.asarray(column(name)) for text, name in zip(texts, names)}


#: Columns that may name the node, and those that may name the graph, as in a table that is read from a file.
_NAME_COLUMNS = ("landmark", "marker", "keypoint", "bodypart", "point", "node", "name", "label")
_GRAPH_COLUMNS = ("frame", "image", "specimen", "id", "object")


def _is_numeric(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "fiub":
        return True
    return column.dtype == object and all(isinstance(value, (int, float, np.number, bool)) for value in column.tolist())


def coordinates(points: ArrayLike, what: str) -> NDArray[np.float64]:
    """An (n, 2) or (n, 3) table; says what was expected if it is not one."""
    table = np.asarray(points)
    if table.size == 0:
        return np.zeros((0, table.shape[1] if table.ndim == 2 and table.shape[1] in (2, 3) else 2))
    if table.ndim != 2 or table.shape[1] not in (2, 3) or table.dtype.kind not in "fiub":
        shown = f"an array of shape {table.shape}" if table.dtype.kind in "fiub" else f"{type(points).__name__}"
        raise MatchError(f"{what}: expected numbers of shape (n, 2) or (n, 3), one row per node, found {shown}")
    return plain_floats(table)


def plain_floats(values: ArrayLike) -> NDArray[np.float64]:
    """float64, aligned, in row order; copied only if necessary."""
    return np.require(values, np.float64, ["C", "A"])


def plain_integers(values: ArrayLike) -> NDArray[np.int64]:
    """int64, aligned, in row order."""
    return np.require(values, np.int64, ["C", "A"])


def _count(nodes: int | None, *parts: Any) -> int:
    counts = [len(part[1]) if isinstance(part, tuple) else len(part) for part in parts if part is not None]
    if nodes is not None:
        counts.insert(0, int(nodes))
    if not counts:
        raise MatchError("nothing says how many nodes there are: give points, names, attributes or nodes")
    return counts[0]


def _table(given: Attributes, what: str) -> tuple[list[str], NDArray[np.float64]]:
    if isinstance(given, Mapping):
        columns = [np.asarray(column, dtype=float).reshape(-1) for column in given.values()]
        lengths = {len(column) for column in columns}
        if len(lengths) > 1:
            raise MatchError(f"{what}: columns of {' and '.join(map(str, sorted(lengths)))} numbers")
        return [str(name) for name in given], plain_floats(np.stack(columns, axis=1) if columns else np.zeros((0, 0)))
    values = np.asarray(given, dtype=float)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2:
        raise MatchError(f"{what}: expected one row per node, found an array of shape {values.shape}")
    return [str(column) for column in range(values.shape[1])], plain_floats(values)


#: What counts as a number.
_NUMBERS = (int, float, np.number, np.bool_)


def _shared(records: list[Mapping[str, Any]], kinds: tuple[type, ...]) -> list[str]:
    """The keys that all records have, with values of these kinds only: all numbers, or all text."""
    keys = [key for key in (records[0] if records else ()) if all(key in fields for fields in records)]

    def is_fine(key: str) -> bool:
        values = [fields[key] for fields in records]
        return any(all(isinstance(value, own) for value in values) for own in ((_NUMBERS, str) if str in kinds else (_NUMBERS,)))

    return [key for key in keys if isinstance(key, str) and is_fine(key)]


def _split_texts(attributes: Any) -> tuple[Any, list[tuple[str, list[str]]]]:
    """Attributes that are numbers, and those that are text."""
    if not isinstance(attributes, Mapping):
        return attributes, []
    listed = {name: column.tolist() if hasattr(column, "tolist") else column for name, column in attributes.items()}
    is_text = {
        name: isinstance(column, (list, tuple)) and any(isinstance(value, str) for value in column) for name, column in listed.items()
    }
    texts = [
        (str(name), ["" if value is None or value != value else str(value) for value in column])
        for name, column in listed.items()
        if is_text[name]
    ]
    return {name: column for name, column in attributes.items() if not is_text[name]} or None, texts


def _columns(table: tuple[list[str], NDArray[np.float64]] | None) -> dict[str, NDArray[np.float64]]:
    return {} if table is None else {name: table[1][:, at] for at, name in enumerate(table[0])}


def _edges(edges: Any, names: list[str] | None) -> NDArray[np.int64]:
    rows = edges.tolist() if isinstance(edges, np.ndarray) else [list(edge) for edge in edges]
    places = {name: at for at, name in enumerate(names or [])}

    def number(end: object) -> int:
        if isinstance(end, str):
            if end not in places:
                raise MatchError(f"edges: there is no node with the name {end!r}")
            return places[end]
        return int(end)  # type: ignore[call-overload, no-any-return]

    if any(len(row) != 2 for row in rows):
        raise MatchError("edges: expected pairs of nodes, shape (e, 2)")
    return plain_integers(np.array([[number(a), number(b)] for a, b in rows], dtype=np.int64).reshape(-1, 2))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
