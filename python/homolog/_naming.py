"""Naming: the names that an atlas gave to the points of a specimen, and how certain they are. Found: landmarks in a picture."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._html import table


class Naming:
    """The names of the points of one specimen.

    Attributes
    ----------
    names : list of str or None
        The name of each point; None for a point without a name.
    landmarks : dict of str to int
        The point of each landmark that was found.
    not_found : list of str
        Landmarks that have no point.
    confidence : numpy.ndarray of float
        For each point, the probability that its name is right; nan if it has none, or if the atlas was learned from one specimen.
    runner_up : list of str or None
        For each point, its next best name; None if it would have none.
    margins : numpy.ndarray of float
        For each point, how much the score falls if it may not have its name: an upper bound, found by a search; infinite if the
        landmark has no other point, nan if the point has no name.
    pose : dict
        What maps the specimen into the frame of the atlas: x -> scale * rotation @ x + shift.
    score, bound, status : float, float, str
        The score of the naming in that pose. "optimal": proven, no naming in that pose scores more; "converged": the end of a search.
    candidates : int or None
        How many points were considered for each landmark, if not all of them: a proof holds among these.
    presence : str
        "complete" or "partial": how the specimen was named.
    fit : float or None
        How well the specimen fits: about 1 if it is like the training specimens, lower if it is not; None if the atlas was learned from a single one.
    fits_badly : bool
        Whether it differs so much from the training specimens that its names are unreliable.
    sets : list of (list of str or None), or None
        If asked for (``candidates=0.95``): for each point names that include the true one that often, the likeliest first; None among
        them means no landmark.
    guaranteed : float or None
        How often the sets are guaranteed to include the true name, if the specimen is like the training ones: less than asked for if these
        were few.
    """

    def __init__(self, text: str) -> None:
        fields: dict[str, Any] = json.loads(text)
        count = len(fields["names"]) + len(fields["nobody"])
        self.names: list[str | None] = [None] * count
        self.runner_up: list[str | None] = [None] * count
        self.confidence: NDArray[np.float64] = np.full(count, np.nan)
        self.margins: NDArray[np.float64] = np.full(count, np.nan)
        for call in fields["names"]:
            point = call["point"]
            self.names[point], self.runner_up[point] = call["name"], call["runner_up"]
            self.margins[point] = np.inf if call["margin"] is None else call["margin"]
            if call["confidence"] is not None:
                self.confidence[point] = call["confidence"]
        self.landmarks: dict[str, int] = {call["name"]: call["point"] for call in fields["names"]}
        self.not_found: list[str] = fields["not_found"]
        pose = fields["pose"]
        self.pose: dict[str, Any] = {
            "scale": pose["scale"],
            "rotation": np.array(pose["rotation"]),
            "shift": np.array(pose["shift"]),
        }
        self.score: float = fields["score"]
        self.bound: float = np.inf if fields["bound"] is None else fields["bound"]
        self.status: str = fields["status"]
        self.candidates: int | None = fields["candidates"]
        self.presence: str = fields["presence"]
        self.fit: float | None = fields["fit"]
        self.fits_badly: bool = fields["fits_badly"]
        found = fields.get("sets")
        self.sets: list[list[str | None]] | None = None
        self.guaranteed: float | None = None
        if found is not None:
            self.sets = [one["names"] + [None] * one["none"] for one in found["points"]]
            self.guaranteed = found["guaranteed"]

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row per point: name, confidence, runner_up, margin; candidates if they were asked for."""
        import pandas as pd

        columns: dict[str, Any] = {
            "name": self.names,
            "confidence": self.confidence,
            "runner_up": self.runner_up,
            "margin": self.margins,
        }
        if self.sets is not None:
            columns["candidates"] = self.sets
        return pd.DataFrame(columns)

    def __len__(self) -> int:
        return len(self.landmarks)

    def __repr__(self) -> str:
        proof = "proven in its pose" if self.status == "optimal" else self.status
        return f"Naming({len(self)} of {len(self.names)} points named, score {self.score:.6g}, {proof})"

    def _repr_html_(self) -> str:
        rows = zip(range(len(self.names)), self.names, self.confidence, self.runner_up)
        return table(repr(self), ["point", "name", "confidence", "runner-up"], rows, len(self.names))


class Found:
    """The landmarks that an atlas found in a picture.

    Attributes
    ----------
    names : list of str
        The landmarks, sorted.
    points : numpy.ndarray, shape (n, 2)
        Where they are, in pixels, y down.
    confidence : numpy.ndarray of float
        For each, the probability that it is within 2 % of the diameter of all landmarks; nan if the atlas was learned from one picture.
    """

    def __init__(self, text: str) -> None:
        fields: list[dict[str, Any]] = json.loads(text)
        self.names: list[str] = [point["name"] for point in fields]
        self.points: NDArray[np.float64] = np.array([point["at"] for point in fields], dtype=np.float64).reshape(-1, 2)
        known = [np.nan if point["confidence"] is None else point["confidence"] for point in fields]
        self.confidence: NDArray[np.float64] = np.array(known, dtype=np.float64)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row per landmark: name, x, y, confidence."""
        import pandas as pd

        columns = {"name": self.names, "x": self.points[:, 0], "y": self.points[:, 1], "confidence": self.confidence}
        return pd.DataFrame(columns)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Found({len(self)} landmarks)"

    def _repr_html_(self) -> str:
        rows = ((name, x, y, sure) for name, (x, y), sure in zip(self.names, self.points, self.confidence))
        return table(repr(self), ["landmark", "x", "y", "confidence"], rows, len(self))
