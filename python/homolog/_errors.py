"""Exceptions and warnings. scikit-learn's own are used if it is loaded, so that its tools recognise them."""

from __future__ import annotations

import sys

from ._core import MatchError

__all__ = ["ConvergenceWarning", "MatchError", "NotFittedError"]


class NotFittedError(ValueError, AttributeError):
    """A matcher or atlas was asked to predict before it was fitted."""


class ConvergenceWarning(UserWarning):
    """Training ended before the gap closed; the result is the best so far."""


def not_fitted(estimator: object) -> NotFittedError:
    """The exception for an estimator that has not learned yet."""
    name = type(estimator).__name__
    error: NotFittedError = _joined(NotFittedError)(f"This {name} has not been fitted yet: call fit first.")
    return error


def convergence_warning(sentence: str) -> ConvergenceWarning:
    """The warning that training did not converge."""
    warning: ConvergenceWarning = _joined(ConvergenceWarning)(sentence)
    return warning


def _joined(ours: type) -> type:
    """Our class, which is also scikit-learn's class of the same name if that is loaded."""
    if "sklearn" not in sys.modules:
        return ours
    from sklearn import exceptions

    theirs = getattr(exceptions, ours.__name__)
    return type(ours.__name__, (ours, theirs), {"__doc__": ours.__doc__, "__module__": "homolog"})
