"""Features of pairs: what an item of X may be, and how it becomes graphs and features of the library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._errors import MatchError
from ._graph import Graph, as_graph, plain_floats, plain_integers

#: Two graphs and the features of their pairs, if there are any.
Item = tuple[Graph, Graph, "_core.PairFeatures | None"]


def is_table(thing: Any) -> bool:
    """Whether a thing can only be features of pairs: a dict of tables, or an array (n, m, d) that is no pair of point sets."""
    if isinstance(thing, (Mapping, _core.PairFeatures)):
        return True
    return isinstance(thing, np.ndarray) and thing.ndim == 3 and not (thing.shape[0] == 2 and thing.shape[2] in (2, 3))


def are_tables(items: Sequence[Any], known: bool) -> bool:
    """Whether arrays (2, m, 2) or (2, m, 3) among these are features of pairs and not two sets of points: if the model has such features, or the others are."""
    return known or any(is_table(item) for item in items)


def item_of(thing: Any, tables: bool, at: int | None = None) -> Item:
    """Graphs and features: of (left, right), (left, right, features), or features alone."""
    if is_table(thing) or (tables and isinstance(thing, np.ndarray) and thing.ndim == 3):
        features = pair_features(thing)
        n, m = features.shape
        return Graph(nodes=n), Graph(nodes=m), features
    expected = "expected (left, right), (left, right, features), an array (n, m, d) or a dict of tables (n, m)"
    if isinstance(thing, (str, bytes, Graph)) or not hasattr(thing, "__len__") or len(thing) not in (2, 3):
        where = "" if at is None else f" at position {at}"
        raise MatchError(f"{expected}; found {type(thing).__name__}{where}")
    left, right = as_graph(thing[0]), as_graph(thing[1])
    return left, right, pair_features(thing[2]) if len(thing) == 3 and thing[2] is not None else None


def pair_features(thing: Any) -> _core.PairFeatures:
    """Features of pairs of the library, from an array (n, m, d) or a dict of names to tables (n, m), dense or sparse."""
    if isinstance(thing, _core.PairFeatures):
        return thing
    if isinstance(thing, Mapping):
        named = {str(name): table for name, table in thing.items()}
        if not named:
            raise MatchError("features of pairs: the dict has no table")
        if any(hasattr(table, "tocoo") for table in named.values()):
            return _of_lists(named)
        tables = [_table(name, table) for name, table in named.items()]
        return _core.PairFeatures.of_tables(list(named), tables)
    array = np.asarray(thing, dtype=float)
    if array.ndim != 3:
        raise MatchError(f"features of pairs: expected an array (n, m, d), found shape {array.shape}")
    tables = [plain_floats(array[:, :, at]) for at in range(array.shape[2])]
    return _core.PairFeatures.of_tables([str(at) for at in range(array.shape[2])], tables)


def _table(name: str, table: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(table, dtype=float)
    if array.ndim != 2:
        raise MatchError(f"pair feature {name!r}: expected a table (n, m), found shape {array.shape}")
    return plain_floats(array)


def _of_lists(named: dict[str, Any]) -> _core.PairFeatures:
    """A pair may be matched if every sparse table has an entry for it, be it zero."""
    shapes = {name: np.shape(table) for name, table in named.items()}
    n, m = next(iter(shapes.values()))
    for name, shape in shapes.items():
        if shape != (n, m):
            raise MatchError(f"pair feature {name!r}: expected shape {(n, m)}, found {shape}")
    keys: Any = None
    entries: dict[str, Any] = {}
    for name, table in named.items():
        if hasattr(table, "tocoo"):
            row, column, values = coordinates_of(table)
            order = np.argsort(row * m + column, kind="stable")
            entries[name] = (row * m + column)[order], values[order]
            keys = entries[name][0] if keys is None else np.intersect1d(keys, entries[name][0])
    listed = np.empty((len(keys), len(named)))
    for at, (name, table) in enumerate(named.items()):
        if name in entries:
            own, values = entries[name]
            listed[:, at] = values[np.searchsorted(own, keys)]
        else:
            listed[:, at] = _table(name, table).reshape(-1)[keys]
    allowed = ~np.isinf(listed).any(axis=1)
    pairs = np.stack([keys // m, keys % m], axis=1) if m else np.zeros((0, 2), dtype=np.int64)
    return _core.PairFeatures.of_list(list(named), (int(n), int(m)), plain_integers(pairs[allowed]), plain_floats(listed[allowed]))


def coordinates_of(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows, columns and values of a scipy.sparse matrix; explicit zeros are entries, duplicates add up as scipy defines it."""
    listed = matrix.tocsr()
    if not listed.has_canonical_format:
        listed = listed.copy()
        listed.sum_duplicates()
    listed = listed.tocoo()
    return listed.row.astype(np.int64), listed.col.astype(np.int64), listed.data.astype(float)


def boxes(
    left: ArrayLike,
    right: ArrayLike,
    *,
    embeddings: tuple[ArrayLike, ArrayLike] | None = None,
    covariance: ArrayLike | None = None,
    form: str = "xywh",
) -> dict[str, NDArray[np.float64]]:
    """What trackers compare, as features of pairs: from detections to an item of X in one line.

    Parameters
    ----------
    left, right : array_like, shape (n, 4) and (m, 4)
        Boxes.
    embeddings : (array_like, array_like), optional
        Vectors of appearance, one row per box.
    covariance : array_like, shape (d, d) or (n, d, d), optional
        Covariance of where the partner of a left box is expected, one for all or one for each: d = 2 of the centre, d = 4 of
        (centre x, centre y, width, height), as a Kalman filter predicts it (its noise of measurement included).
    form : {"xywh", "xyxy"}
        Whether a box is left, top, width, height, or left, top, right, bottom.

    Returns
    -------
    dict of str to numpy.ndarray, shape (n, m)
        "1-iou"; "distance" of the centres over the mean height; "height" and "width", the absolute logarithms of their ratios; with
        `embeddings` "1-cosine"; with `covariance` "mahalanobis", the distance in standard deviations. All are 0 for equal boxes.

    Examples
    --------
    >>> import homolog as hm
    >>> x = hm.boxes([[0, 0, 2, 4]], [[0, 0, 2, 4], [1, 0, 2, 4]])
    >>> {name: table.round(2).tolist() for name, table in x.items()}
    {'1-iou': [[0.0, 0.67]], 'distance': [[0.0, 0.25]], 'height': [[0.0, 0.0]], 'width': [[0.0, 0.0]]}
    """
    if form not in ("xywh", "xyxy"):
        raise MatchError(f"form is {form!r}: it must be 'xywh' or 'xyxy'")

    def table(given: ArrayLike) -> NDArray[np.float64]:
        array = np.asarray(given, dtype=float).reshape(-1, 4) if np.size(given) == 0 else np.array(given, dtype=float)
        if array.ndim != 2:
            raise MatchError(f"boxes: expected an array (n, 4), found shape {array.shape}")
        if form == "xyxy" and array.shape[1] == 4:
            array[:, 2:] -= array[:, :2]
        return plain_floats(array)

    looks = None if embeddings is None else tuple(plain_floats(np.asarray(side, dtype=float)) for side in embeddings)
    features = _core.box_features(table(left), table(right), looks, None if covariance is None else _covariances(covariance))
    values, (n, m) = features.values, features.shape
    return {name: np.ascontiguousarray(values[:, at].reshape(n, m)) for at, name in enumerate(features.names)}


def mahalanobis(left: ArrayLike, right: ArrayLike, covariance: ArrayLike) -> NDArray[np.float64]:
    """How far rows are apart, in standard deviations: a table (n, m) that can be a feature of pairs, or a cost for :func:`homolog.solve`.

    Parameters
    ----------
    left, right : array_like, shape (n, d) and (m, d)
        Points, or any other measurements.
    covariance : array_like, shape (d, d) or (n, d, d)
        Symmetric and positive definite; one for all left rows, or one for each.

    Examples
    --------
    >>> import homolog as hm
    >>> hm.mahalanobis([[0, 0]], [[2, 0], [0, 2]], [[4, 0], [0, 1]]).tolist()
    [[1.0, 2.0]]
    """
    spread = _covariances(covariance)
    d = spread.shape[2]
    tables = []
    for name, given in (("left", left), ("right", right)):
        array = np.asarray(given, dtype=float)
        if array.size == 0:
            array = array.reshape(-1, d)
        if array.ndim != 2:
            raise MatchError(f"{name} rows: expected an array (n, {d}), found shape {array.shape}")
        tables.append(plain_floats(array))
    return _core.mahalanobis(tables[0], tables[1], spread)


def _covariances(covariance: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(covariance, dtype=float)
    if array.ndim not in (2, 3):
        raise MatchError(f"covariance: expected an array (d, d) or (n, d, d), found shape {array.shape}")
    return plain_floats(array if array.ndim == 3 else array[None])
