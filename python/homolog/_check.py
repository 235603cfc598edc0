"""What looks wrong in labelled specimens."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._data import DataSet, load
from ._html import report
from ._solve import threads


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong.

    Attributes
    ----------
    index, specimen : int, str
        Position and id of the specimen.
    kind : str
        swapped, rolled, reversed, renamed, mirrored, rotated, displaced, doubled, scaled, unlike or missing.
    landmarks : list of str
        The landmarks in question; none if it is the whole specimen.
    points_of : list of str
        Names at the wrong points: whose point each of the landmarks should have.
    by : int or None
        Rolled: by how many places.
    spreads : float or None
        Displaced: how far, in root-mean-square distances of this landmark from its mean place.
    should_be : list of float or None
        Displaced: where it should be.
    factor, degrees : float or None
        Scaled and rotated: by how much.
    oddness : float or None
        How unusual it is: 1 is the threshold, which few good specimens reach.
    """

    index: int
    specimen: str
    kind: str
    landmarks: list[str] = field(default_factory=list)
    points_of: list[str] = field(default_factory=list)
    by: int | None = None
    spreads: float | None = None
    should_be: list[float] | None = None
    factor: float | None = None
    degrees: float | None = None
    oddness: float | None = None


class CheckReport:
    """What `check` found, surest first; prints as `homolog check` does.

    Attributes
    ----------
    findings : list of Finding
    false_alarms : float or None
        The share of good specimens listed by mistake in sets of this size, as measured on eight sets; None if there were too few specimens to judge any.
    expected : dict of int to dict of str to list of float
        Where each landmark of a suspect should be, by the position of the specimen.
    """

    def __init__(self, values: dict[str, Any], text: str, fixed: dict[str, DataSet]) -> None:
        self.findings = [Finding(**finding) for finding in values["findings"]]
        self.false_alarms: float | None = values["false_alarms"]
        self.expected: dict[int, dict[str, list[float]]] = {
            int(index): {place["landmark"]: place["at"] for place in places}
            for index, places in values["expected"].items()
        }
        self._text, self._fixed = text, fixed

    def fixed(self, what: str = "swaps") -> DataSet:
        """The specimens with mistakes in names corrected, as `homolog check --fix` writes them; the checked data set is not changed.

        Parameters
        ----------
        what : {"swaps", "names"}
            Only swapped landmarks are exchanged, or all mistakes in names are corrected: also rolled and reversed ones.
        """
        if what not in self._fixed:
            raise ValueError(f'what must be "swaps" or "names", not {what!r}')
        return self._fixed[what]

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return report(self._text)


def check(data: DataSet | str | os.PathLike[str], n_jobs: int | None = None) -> CheckReport:
    """Lists what looks wrong in labelled specimens: landmarks swapped, displaced, doubled or missing, mirror images, other units.

    Parameters
    ----------
    data : DataSet or path
        Specimens whose landmarks have names: what `load` returns, or a file that it reads.
    n_jobs : int, optional
        Threads to use; all cores by default.

    Returns
    -------
    CheckReport
    """
    found = data if isinstance(data, DataSet) else load(data)
    values, text, swaps, names = _core.check_specimens(found._inner, threads(n_jobs))
    fixed = {"swaps": DataSet(swaps, found._folder), "names": DataSet(names, found._folder)}
    return CheckReport(json.loads(values), text, fixed)
