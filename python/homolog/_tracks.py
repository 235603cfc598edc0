"""Tracks: detections frame by frame, and labelled pairs of frames to learn from."""

from __future__ import annotations

import csv
import io
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
    """Detections of consecutive frames as labelled pairs: which continue, which enter and which leave.

    Parameters
    ----------
    frames : sequence of (number, boxes) or (number, boxes, ids)
        Boxes (left, top, width, height), one row per detection; ids are whole numbers, negative or None: no object.
    gap : int, default 1
        A frame is paired with each of the next `gap` frames.

    Attributes
    ----------
    X : list
        For each pair of frames two graphs and the features of their boxes: items for `Matcher.fit`.
    y : list of numpy.ndarray
        The right detection of each left one, -1 for one that leaves, is missed or is false.
    links : list of (int, int)
        The numbers of the two frames of each pair.
    frames : list of (int, numpy.ndarray, list)
        The number, boxes and ids (None: no object) of each frame.

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

        Columns, in capitals or not: ``frame`` (or frameid), ``track_id`` (or id; empty or negative: no object), and either the boxes as
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
            A frame is paired with each of the next `gap` frames.

        Examples
        --------
        >>> import homolog as hm, pandas as pd
        >>> table = pd.DataFrame({"frame": [0, 0, 1, 1], "track_id": [5, 6, 6, 5], "x": [0, 9, 8, 1], "y": [0, 0, 0, 0]})
        >>> hm.Tracks.from_table(table).y[0].tolist()
        [1, 0]
        """
        made = cls.__new__(cls)
        made._take(_core.read_track_table(_as_text(table), None if size is None else float(size), int(gap)))
        return made

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


def _as_text(table: Any) -> str:
    """A table as comma-separated values, its index among the columns."""
    if any(name is not None for name in getattr(getattr(table, "index", None), "names", [])):
        table = table.reset_index()
    columns = table_columns(table)
    if columns is None:
        raise MatchError(f"expected a table of detections, found {type(table).__name__}")
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(columns)
    rows.writerows(zip(*(column.tolist() for column in columns.values())))
    return text.getvalue()
