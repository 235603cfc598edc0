"""A line of progress during training: with tqdm if it is installed, otherwise plain; the same lines go to the logger "homolog" (DEBUG)."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any


LOGGER = logging.getLogger("homolog")


class Progress:
    """Shows how far training is, and passes every report on to the user's callback."""

    def __init__(self, verbose: int, callback: Callable[[dict[str, Any]], Any] | None) -> None:
        self._verbose = verbose
        self._user = callback
        self._bar: Any = None

    @property
    def callback(self) -> Callable[[dict[str, Any]], Any] | None:
        return self._report if self._verbose or self._user or LOGGER.isEnabledFor(logging.DEBUG) else None

    def __enter__(self) -> Progress:
        if self._verbose:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(bar_format="{elapsed} {desc}{postfix}", leave=self._verbose > 1)
            except ImportError:
                self._bar = None
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _report(self, report: dict[str, Any]) -> bool:
        objective, bound = report.get("objective"), report.get("bound")
        if objective is not None and bound is not None and objective != 0:
            report["gap"] = (objective - bound) / abs(objective)
        if self._verbose:
            self._show(report)
        if LOGGER.isEnabledFor(logging.DEBUG):
            LOGGER.debug("%s", _line(report))
        return bool(self._user(report)) if self._user else False

    def _show(self, report: dict[str, Any]) -> None:
        if self._bar is not None:
            self._bar.set_description_str(_line(report))
        else:
            print(_line(report), file=sys.stderr)


def _line(report: dict[str, Any]) -> str:
    of = f" of {report['total']}" if report.get("total") else ""
    numbers = [f"{name} {report[name]:.5g}" for name in ("objective", "bound") if report.get(name) is not None]
    numbers += [f"gap {100 * report['gap']:.2f} %"] if "gap" in report else []
    return ", ".join([f"{report['stage']}, {report['done']}{of}", *numbers])
