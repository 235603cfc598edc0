"""How training went, and why a match is as it is: for reading, printing and notebooks."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._html import table
from ._progress import LOGGER


class FitReport:
    """The result of training, as `homolog train` reports it: `fields` as its JSON, printed as its text."""

    def __init__(self, fields: dict[str, Any], text: str | None = None) -> None:
        self.fields = fields
        self._text = text
        # Only what training reports; a model that was read from a file has no text.
        if text is not None:
            LOGGER.info("%s", self)

    @property
    def sentence(self) -> str:
        """What learning achieved, in a sentence."""
        return str(self.fields.get("sentence") or "This model was read from a file.")

    @property
    def complete(self) -> bool:
        """Whether training was completed."""
        return bool(self.fields.get("complete", True))

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """Every λ of every learner, and the weights before learning, with the error on held-out pairs."""
        return list(self.fields.get("candidates") or [])

    @property
    def error(self) -> float | None:
        """The error on held-out pairs; for an atlas that was asked for by name, the share of wrong names of left-out specimens."""
        tried = self._tried()
        return None if tried is None else tried.get("error")

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that contains the error on new specimens nine times in ten."""
        interval = (self._tried() or {}).get("interval")
        return None if interval is None else (float(interval[0]), float(interval[1]))

    def _tried(self) -> dict[str, Any] | None:
        chosen = self.fields.get("chosen")
        return next((tried for tried in self.fields.get("tried") or [] if tried["name"] == chosen), None)

    def __str__(self) -> str:
        return self.sentence if self._text is None else self._text.rstrip("\n")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads = ["", "learner", "λ", "objective", "gap", "error on held-out pairs"]
        rows = [
            (
                "★" if candidate["chosen"] else "",
                candidate["learner"],
                _number(candidate["lambda"], ".2g"),
                _number(candidate["objective"], ".5f"),
                _number(candidate["gap"], ".1e"),
                f"{_number(candidate['error'], '.4f')} ± {_number(candidate['standard_error'], '.4f')}",
            )
            for candidate in self.candidates
        ]
        note = self.fields.get("note")
        return table(self.sentence, heads, rows, len(rows)) + (f"<p>{html.escape(note)}</p>" if note else "")


class Explanation:
    """Why nodes are matched as they are: for each pair its part of the score, its margin, the runner-up and what decided."""

    def __init__(
        self,
        fields: dict[str, Any],
        feature_names: list[str],
        names: tuple[list[str] | None, list[str] | None] = (None, None),
    ) -> None:
        self.matches: list[dict[str, Any]] = sorted(fields["matches"], key=lambda reasons: _margin(reasons))
        self.feature_names = feature_names
        self._names = names

    def contributions(self, at: int = 0) -> dict[str, float]:
        """What each feature adds to the margin of a match, the largest first."""
        values: NDArray[np.float64] = np.array(self.matches[at]["contributions"] or [])
        order = np.argsort(-np.abs(values))
        return {self.feature_names[number]: float(values[number]) for number in order}

    def __len__(self) -> int:
        return len(self.matches)

    def _rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        for at, reasons in enumerate(self.matches):
            best = list(self.contributions(at).items())[:2] if reasons["contributions"] else []
            decided = ", ".join(f"{name} {value:+.3g}" for name, value in best)
            margin = "-" if reasons["margin"] is None else f"{reasons['margin']:.4g}"
            other = "-" if reasons["runner_up"] is None else self._name(1, reasons["runner_up"])
            yield self._name(0, reasons["left"]), self._name(1, reasons["right"]), margin, other, decided

    def __str__(self) -> str:
        rows = [("left", "right", "margin", "else", "decided by"), *self._rows()]
        return "\n".join(f"{left:>12}  {right:>12}  {margin:>10}  {other:>12}  {decided}" for left, right, margin, other, decided in rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads = ["left", "right", "margin", "else", "decided by"]
        return table("Matches, the least certain first", heads, self._rows(), len(self))

    def _name(self, side: int, node: int) -> str:
        names = self._names[side]
        return str(node) if names is None else names[node]


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _margin(reasons: dict[str, Any]) -> float:
    return float("inf") if reasons["margin"] is None else float(reasons["margin"])
