"""Tables for notebooks: what `_repr_html_` of results is made of."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

#: Rows that a notebook shows.
SHOWN = 30


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], count: int) -> str:
    """A title and the first of `count` rows; cells are shown as text, numbers with four digits, what is absent as a dash."""
    lines = [f"<tr>{_cells('td', map(_text, row))}</tr>" for row in islice(rows, SHOWN)]
    head = f"<tr>{_cells('th', heads)}</tr>"
    more = f"<p>… and {count - SHOWN} more</p>" if count > SHOWN else ""
    return f"<p><b>{html.escape(title)}</b></p>" + (f"<table>{head}{''.join(lines)}</table>{more}" if lines else "")


def report(text: str) -> str:
    """A report of several lines, as the program prints it."""
    return f"<pre>{html.escape(text)}</pre>"


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)


def _text(value: Any) -> str:
    if value is None or (isinstance(value, (float, np.floating)) and np.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
