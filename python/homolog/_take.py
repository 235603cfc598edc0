"""Takes: the frames of a recording, named as a whole."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._atlas import Atlas, _graphs
from ._data import DataSet
from ._html import table
from ._solve import threads


class Doubt(NamedTuple):
    """Frames in which a marker is doubtful."""

    first: str
    """The first frame."""
    last: str
    """The last frame."""
    marker: str
    """The name given."""
    alternative: str | None
    """What it might be instead; None if it might be no marker."""
    confidence: float
    """The least confidence in between."""


class Swap(NamedTuple):
    """A point that changed its name."""

    frame: str
    """The frame from which on it has another name."""
    marker: str
    """The name it had."""
    other: str | None
    """The name it has then; None if none."""


class Mislabelled(NamedTuple):
    """Frames in which a point has another label than the name found."""

    first: str
    """The first frame."""
    last: str
    """The last frame."""
    label: str
    """The label in the take."""
    marker: str
    """The marker it should be."""
    confidence: float
    """The least confidence in between."""


class TakeNaming:
    """The names of the points of a take.

    Attributes
    ----------
    frames : list of str
        The ids of the frames.
    names : list of list of str or None
        For each frame, the name of each point; None for a point without a name.
    confidence : list of numpy.ndarray of float
        For each frame, how certain the name of each point is; nan if it has none.
    runner_up : list of list of str or None
        For each frame, the next best name of each point.
    doubtful : list of Doubt
        Stretches in which a name is less than 90 % sure.
    swaps : list of Swap
        Where the name of a point changed.
    mislabelled : list of Mislabelled
        Labels of the frames that differ from the names found.
    key_frames : int
        How many frames were named by the full search.
    complete : bool
        False if the time limit ended it early.
    """

    def __init__(self, text: str) -> None:
        fields: dict[str, Any] = json.loads(text)
        rows = fields["frames"]
        self.frames: list[str] = [row["frame"] for row in rows]
        self.names: list[list[str | None]] = [row["names"] for row in rows]
        self.confidence: list[NDArray[np.float64]] = [np.array(row["confidence"], dtype=float) for row in rows]
        self.runner_up: list[list[str | None]] = [row["runner_up"] for row in rows]
        self.doubtful = [
            Doubt(row["first"], row["last"], row["marker"], row["or"], row["confidence"]) for row in fields["doubtful"]
        ]
        self.swaps = [Swap(row["frame"], row["marker"], row["other"]) for row in fields["swaps"]]
        labels = fields["mislabelled"]
        self.mislabelled = [Mislabelled(*map(row.get, Mislabelled._fields)) for row in labels]
        self.key_frames: int = fields["key_frames"]
        self.complete: bool = fields["complete"]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row per point: frame, point, name, confidence, runner_up."""
        import pandas as pd

        columns: dict[str, Any] = {
            "frame": [frame for frame, names in zip(self.frames, self.names) for _ in names],
            "point": [point for names in self.names for point in range(len(names))],
            "name": [name for names in self.names for name in names],
            "confidence": np.concatenate(self.confidence) if self.confidence else np.array([]),
            "runner_up": [name for names in self.runner_up for name in names],
        }
        return pd.DataFrame(columns)

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        named = sum(name is not None for names in self.names for name in names)
        points = sum(len(names) for names in self.names)
        parts = f"{len(self)} frames, {named} of {points} points named"
        return f"TakeNaming({parts}, {len(self.doubtful)} doubtful stretches, {len(self.swaps)} swaps)"

    def _repr_html_(self) -> str:
        heads = ["doubtful from frame", "to", "marker", "or", "confidence"]
        return table(repr(self), heads, self.doubtful, len(self.doubtful))


def name_take(atlas: Atlas, take: Any, *, time_limit: float | None = None) -> TakeNaming:
    """Names the frames of a take as a whole: points are followed from frame to frame, and names are consistent over time.

    Parameters
    ----------
    atlas : Atlas
        Learned from a few labelled frames, of this take or of another one.
    take : DataSet, or a sequence of graphs or arrays of points
        The frames in order of time. Names in them are ignored; `mislabelled` lists those that are wrong.
    time_limit : float, optional
        Seconds; after that the names are found from the frames done by then.

    Examples
    --------
    >>> import numpy as np, homolog as hm
    >>> shape = np.random.default_rng(0).normal(size=(12, 3))
    >>> names = [f"m{k}" for k in range(12)]
    >>> atlas = hm.Atlas(learn_weights=False).fit([hm.Graph(shape, names=names)])
    >>> take = [(shape + [0.01 * t, 0, 0])[::-1] for t in range(20)]
    >>> hm.name_take(atlas, take).names[7] == names[::-1]
    True
    """
    model = atlas._fitted()
    graphs = _graphs(take)
    ids = list(take.graphs) if isinstance(take, DataSet) else [str(number) for number in range(len(graphs))]
    frames = [graph._graph for graph in graphs]
    return TakeNaming(_core.name_take(model, frames, ids, time_limit, threads(atlas.n_jobs)))
