"""Tracks: detections frame by frame, and labelled pairs of frames to learn from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._data import DataSet
from ._errors import MatchError
from ._graph import plain_floats, table_columns


class Tracks(DataSet):
    """Detections of consecutive frames as labelled pairs: who is who, who enters and who leaves.

    Parameters
    ----------
    frames : sequence of (number, boxes) or (number, boxes, ids)
        Boxes (left, top, width, height), one row per detection; ids are whole numbers, negative or None for nobody.
    gap : int, default 1
        A frame is paired with those up to so many frames later.

    Attributes
    ----------
    X : list
        For each pair of frames two graphs and the features of their boxes: items for `Matcher.fit`.
    y : list of numpy.ndarray
        The right detection of each left one, -1 for one that leaves, is missed or is false.
    links : list of (int, int)
        The numbers of the two frames of each pair.
    frames : list of (int, numpy.ndarray, list)
        The number, boxes and ids (None for nobody) of each frame.

    Examples
    --------
    >>> import homolog as hm
    >>> tracks = hm.Tracks([(1, [[0, 0, 2, 4], [9, 0, 2, 4]], [7, 8]), (2, [[1, 0, 2, 4], [5, 5, 2, 4]], [7, 9])])
    >>> tracks.y[0].tolist(), tracks.leaves(0).tolist(), tracks.enters(0).tolist()
    ([0, -1], [1], [1])
    """

    def __init__(self, frames: Any, *, gap: int = 1) -> None:
        listed = []
        for frame in frames:
            number, boxes, ids = frame if len(frame) == 3 else (frame[0], frame[1], None)
            table = _boxes(boxes)
            names = [-1] * len(table) if ids is None else [-1 if id is None else int(id) for id in ids]
            listed.append((int(number), table, names))
        self._take(_core.tracks(listed, int(gap)))

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], truth: str | os.PathLike[str] | None = None, *, gap: int = 1
    ) -> Tracks:
        """Reads MOTChallenge text. Detections of `path` get the ids of the boxes of `truth` that they overlap by a half or more."""
        texts = [None if place is None else Path(place).read_text(encoding="utf-8-sig") for place in (path, truth)]
        made = cls.__new__(cls)
        made._take(_core.read_tracks(texts[0] or "", texts[1], int(gap)))
        return made

    @classmethod
    def from_table(cls, table: Any, *, size: float | None = None, gap: int = 1) -> Tracks:
        """Tracks of a table (pandas, polars, pyarrow) with a row per detection, as TrackMate, laptrack and py-motmetrics have them.

        Columns, in capitals or not: ``frame`` (or frameid), ``track_id`` (or id; empty or negative: nobody), and either the boxes as
        ``x, y, width, height`` with x, y the corner, or the centres as ``x, y`` or ``position_x, position_y`` with a ``radius``, if
        there is one. Columns that are an index are taken too. TrackMate's rows of units below the header are left out.

        Parameters
        ----------
        table : table
            The detections, in any order.
        size : float, optional
            The width and height of detections of which only the centre is known; by default the median distance to the nearest other
            detection of the same frame.
        gap : int, default 1
            A frame is paired with those up to so many frames later.

        Examples
        --------
        >>> import homolog as hm, pandas as pd
        >>> table = pd.DataFrame({"frame": [0, 0, 1, 1], "track_id": [5, 6, 6, 5], "x": [0, 9, 8, 1], "y": [0, 0, 0, 0]})
        >>> hm.Tracks.from_table(table).y[0].tolist()
        [1, 0]
        """
        numbers, ids, boxes = _detections(table, size)
        frames = []
        for number in np.unique(numbers):
            rows = np.flatnonzero(numbers == number)
            frames.append((int(number), boxes[rows], ids[rows].tolist()))
        return cls(frames, gap=gap)

    def _take(self, made: tuple[_core.DataSet, list[tuple[int, NDArray[np.float64], list[int | None]]]]) -> None:
        inner, self.frames = made
        super().__init__(inner)
        self.X = self.pairs
        self.links = [(self.frames[row[0]][0], self.frames[row[1]][0]) for row in inner.pairs()]

    def leaves(self, at: int) -> NDArray[np.int64]:
        """The left detections of a pair that have no partner."""
        return np.flatnonzero(np.asarray(self.y[at]) < 0)

    def enters(self, at: int) -> NDArray[np.int64]:
        """The right detections of a pair that have no partner."""
        return np.setdiff1d(np.arange(self.X[at][2].shape[1]), np.asarray(self.y[at]))

    def __repr__(self) -> str:
        return f"Tracks({len(self.frames)} frames, {len(self.pairs)} pairs)"


def _boxes(boxes: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(boxes, dtype=float).reshape(-1, 4) if np.size(boxes) == 0 else np.asarray(boxes, dtype=float)
    if table.ndim != 2 or table.shape[1] != 4:
        raise MatchError(f"boxes: expected an array (n, 4), found shape {table.shape}")
    return plain_floats(table)


#: The columns of a table of detections, by what programs call them.
_COLUMNS = {
    "frame": ("frame", "frameid"),
    "id": ("track_id", "trackid", "id"),
    "x": ("x", "position_x"),
    "y": ("y", "position_y"),
    "width": ("width", "w"),
    "height": ("height", "h"),
    "radius": ("radius",),
}


def _detections(table: Any, size: float | None) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Frames, ids (-1: nobody) and boxes of a table."""
    if any(name is not None for name in getattr(getattr(table, "index", None), "names", [])):
        table = table.reset_index()
    given = table_columns(table)
    if given is None:
        raise MatchError(f"expected a table of detections, found {type(table).__name__}")
    lower = {name.lower(): column for name, column in given.items()}
    found = {what: next((lower[name] for name in names if name in lower), None) for what, names in _COLUMNS.items()}
    missing = [what for what in ("frame", "id", "x", "y") if found[what] is None]
    if missing:
        raise MatchError(f"a table of detections needs the column {_COLUMNS[missing[0]][0]!r}; it has {', '.join(given)}")
    frame = found["frame"]
    assert frame is not None
    first = next((row for row, value in enumerate(frame) if _number(value) is not None), len(frame))
    columns = {what: _floats(column[first:], what, first) for what, column in found.items() if column is not None}
    if first == len(frame):
        raise MatchError("the table has no detections")
    numbers = _whole(columns["frame"], "frame", first)
    ids = _whole(np.where(np.isnan(columns["id"]) | (columns["id"] < 0), -1, columns["id"]), "id", first)
    centre = np.column_stack([columns["x"], columns["y"]])
    if "width" in columns and "height" in columns:
        extent = np.column_stack([columns["width"], columns["height"]])
        corner = centre
    else:
        if "radius" in columns:
            side = 2 * columns["radius"]
        else:
            side = np.full(len(centre), _usual_distance(numbers, centre) if size is None else float(size))
        extent = np.column_stack([side, side])
        corner = centre - extent / 2
    boxes = plain_floats(np.column_stack([corner, extent]))
    return numbers, ids, boxes


def _whole(numbers: NDArray[np.float64], what: str, first: int) -> NDArray[np.int64]:
    """Whole numbers that a float holds exactly."""
    bad = np.flatnonzero(~((np.abs(numbers) <= 2**53) & (numbers == np.round(numbers))))
    if len(bad):
        raise MatchError(f"column {what}, row {first + bad[0]}: {numbers[bad[0]]} is no whole number, or too large")
    return numbers.astype(np.int64)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _floats(column: NDArray[Any], what: str, first: int) -> NDArray[np.float64]:
    numbers = [np.nan if value is None or value == "" else _number(value) for value in column.tolist()]
    bad = next((row for row, number in enumerate(numbers) if number is None), None)
    if bad is not None:
        raise MatchError(f"column {what}, row {first + bad}: {column[bad]!r} is no number")
    return np.array(numbers, dtype=float)


def _usual_distance(numbers: NDArray[np.int64], centre: NDArray[np.float64]) -> float:
    """The median distance to the nearest other detection of the same frame."""
    nearest: list[float] = []
    for number in np.unique(numbers):
        own = centre[numbers == number]
        if len(own) > 1:
            apart = np.linalg.norm(own[:, None] - own[None], axis=2)
            np.fill_diagonal(apart, np.inf)
            nearest += apart.min(axis=1).tolist()
    usual = float(np.median(nearest)) if nearest else 0.0
    if not usual > 0:
        raise MatchError("how large the detections are is not known: give size")
    return usual
