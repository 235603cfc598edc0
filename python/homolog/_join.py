"""join: one consistent naming for the points of specimens without labels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._atlas import Atlas, _grey
from ._data import DataSet
from ._errors import MatchError
from ._graph import as_graph
from ._html import report, table
from ._matcher import Matcher
from ._progress import LOGGER, Progress
from ._solve import threads


class Joined:
    """Specimens with one consistent naming.

    Attributes
    ----------
    ids : list of str
        The specimens.
    names : list of list of (str or None)
        For each specimen the name of each point; None for a point without one.
    confidence : list of numpy.ndarray
        For each specimen and point the probability that the name is right; nan if it has none.
    counts : dict of str to int
        How many specimens have each name.
    atlas : Atlas
        Names new specimens.
    report : dict
        How certain and how consistent the names are, and how they were found; `str(joined)` says it in words.
    """

    def __init__(self, text: str, words: str, atlas: Atlas) -> None:
        fields: dict[str, Any] = json.loads(text)
        self.counts: dict[str, int] = {one["name"]: one["specimens"] for one in fields["names"]}
        self.report: dict[str, Any] = fields["report"]
        self.atlas = atlas
        self.ids: list[str] = []
        self.names: list[list[str | None]] = []
        self.confidence: list[NDArray[np.float64]] = []
        for one in fields["specimens"]:
            count = len(one["names"]) + len(one["unnamed"])
            names: list[str | None] = [None] * count
            confidence = np.full(count, np.nan)
            for call in one["names"]:
                names[call["point"]] = call["name"]
                if call["confidence"] is not None:
                    confidence[call["point"]] = call["confidence"]
            self.ids.append(one["specimen"])
            self.names.append(names)
            self.confidence.append(confidence)
        self._words = words

    @property
    def table(self) -> dict[str, list[int | None]]:
        """For each name the point of each specimen, None if it has no such point."""
        where = [{name: point for point, name in enumerate(names) if name is not None} for names in self.names]
        return {name: [own.get(name) for own in where] for name in self.counts}

    def match(self, left: int | str, right: int | str) -> list[tuple[int, int]]:
        """The points of two specimens, by position or id, that have the same name."""
        own, other = (self.names[self._at(one)] for one in (left, right))
        return [(point, other.index(name)) for point, name in enumerate(own) if name is not None and name in other]

    def _at(self, one: int | str) -> int:
        return self.ids.index(one) if isinstance(one, str) else one

    def __str__(self) -> str:
        return self._words

    def __repr__(self) -> str:
        return f"Joined({len(self.ids)} specimens, {len(self.counts)} names)"

    def _repr_html_(self) -> str:
        rows = ((name, count, *points) for (name, count), points in zip(self.counts.items(), self.table.values()))
        return table(repr(self), ["name", "specimens", *self.ids], rows, len(self.counts)) + report(self._words)


def join(
    specimens: Any,
    *,
    pose: str = "auto",
    presence: str = "auto",
    pictures: Any = None,
    model: Matcher | Atlas | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Callable[[dict[str, Any]], Any] | None = None,
) -> Joined:
    """Gives the points of specimens without labels one consistent naming.

    Parameters
    ----------
    specimens : sequence of graphs or arrays of points, mapping from id to these, or DataSet
        At least two. If some have names, these are used for the groups; otherwise groups are called 1, 2, ...
    pose : {"auto", "as-given", "tilted", "rotated", "any"}
        How specimens may be oriented: all alike, tilted by up to 45°, rotated, or rotated and mirrored. "auto" determines it from a sample of
        pairs.
    presence : {"auto", "complete", "partial"}
        Whether every point is present in every specimen and nothing else; "auto" determines this too.
    pictures : sequence of array, optional
        The picture of each specimen, grey or colour, points in its pixels (y down). The surroundings of points are compared too, and the atlas
        names only specimens that have these numbers among their attributes.
    model : Matcher or Atlas, optional
        A fitted one that matches the pairs.
    time_limit : float, optional
        Seconds; after that the best so far.
    n_jobs, verbose, callback : as for :class:`Atlas`

    Returns
    -------
    Joined

    Examples
    --------
    >>> import homolog as hm
    >>> frames = list(hm.load("turntable").graphs.values())[:40:8]
    >>> joined = hm.join([frame.points for frame in frames])
    >>> joined
    Joined(5 specimens, 30 names)
    >>> joined.match(0, 4) == [(point, point) for point in range(30)]
    True
    """
    if isinstance(specimens, DataSet):
        specimens = specimens.graphs
    if isinstance(specimens, Mapping):
        ids, values = [str(one) for one in specimens], list(specimens.values())
    else:
        values = list(specimens)
        ids = [str(number) for number in range(len(values))]
    if len(values) < 2:
        raise MatchError(f"need at least two specimens to join, found {len(values)}")
    graphs = [as_graph(value) for value in values]
    fields = {"pose": None if pose == "auto" else pose, "presence": None if presence == "auto" else presence}
    seen = None if pictures is None else [_grey(picture) for picture in pictures]
    if seen is not None and len(seen) != len(graphs):
        raise MatchError(f"found {len(seen)} pictures of {len(graphs)} specimens")
    inner = None if model is None else model._fitted()
    with Progress(verbose, callback) as progress:
        text, words, learned = _core.join_specimens(
            [graph._graph for graph in graphs], ids, json.dumps(fields), seen, inner, time_limit, threads(n_jobs), progress.callback
        )
    LOGGER.info("%s", words)
    return Joined(text, words, Atlas.from_json(learned.to_json()))
