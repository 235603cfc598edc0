"""What scikit-learn expects of an estimator, and model files: shared by Matcher and Atlas.

Importing scikit-learn takes longer than everything here, and many never use it. So an estimator is a plain object until scikit-learn is
imported, by anybody and in any order; from then on it is a `sklearn.base.BaseEstimator`.
"""

from __future__ import annotations

import copy
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from . import _core
from ._data import write_whole
from ._errors import not_fitted
from ._html import report


class _Plain:
    """The base of an estimator without scikit-learn: one that can be exchanged, which `object` cannot."""


class Estimator(_Plain):
    """Settings by name, and a model of the library once fitted."""

    _model: _core.Model

    def _fitted(self) -> _core.Model:
        model: _core.Model | None = self.__dict__.get("_model")
        if model is None:
            raise not_fitted(self)
        return model

    # -- files ------------------------------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """The text of the model file, which the program can also read."""
        return self._fitted().to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model file."""
        write_whole(path, self.to_json())

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        model: _core.Model | None = state.pop("_model", None)
        # The data is the caller's.
        state.pop("_lessons", None)
        state["_model_json"] = None if model is None else model.to_json()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        text = state.pop("_model_json", None)
        self.__dict__.update(state)
        if text is not None:
            self._model = _core.Model.from_json(text)

    # -- settings -----------------------------------------------------------------------------------------------------------------

    @classmethod
    def _parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Any:
        """Changes settings."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {known!r}.")
            setattr(self, name, value)
        return self

    # -- scikit-learn's metadata routing ----------------------------------------------------------------------------------------

    def get_metadata_routing(self) -> Any:
        """What `fit` and `score` ask a meta-estimator for, if metadata routing is on: `sample_weight`, if they take one."""
        from sklearn.utils.metadata_routing import MetadataRequest

        request = self.__dict__.get("_metadata_request")
        if request is not None:
            return copy.deepcopy(request)
        request = MetadataRequest(owner=self)
        for name in ("fit", "score"):
            if _takes_weights(getattr(self, name)):
                getattr(request, name).add_request(param="sample_weight", alias=None)
        return request

    def set_fit_request(self, *, sample_weight: bool | str | None = None) -> Any:
        """Whether a meta-estimator passes `sample_weight` to `fit`, as scikit-learn's estimators have it."""
        return self._set_request("fit", sample_weight)

    def set_score_request(self, *, sample_weight: bool | str | None = None) -> Any:
        """The same for `score`."""
        return self._set_request("score", sample_weight)

    def _set_request(self, name: str, sample_weight: bool | str | None) -> Any:
        if not _takes_weights(getattr(self, name)):
            raise TypeError(f"{type(self).__name__}.{name} takes no sample_weight")
        request = self.get_metadata_routing()
        getattr(request, name).add_request(param="sample_weight", alias=sample_weight)
        self._metadata_request = request
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(two_d_array=False, one_d_array=False)
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=inputs,
            requires_fit=True,
            no_validation=True,
        )

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not (value is defaults[name].default or repr(value) == repr(defaults[name].default))
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    # scikit-learn's own, which would come before the next one and does not know the report.
    _repr_mimebundle_ = None

    def _repr_html_(self) -> str:
        """The settings and, once fitted, the report of training, for notebooks."""
        # A Matcher has a report with a table, an Atlas one in words.
        of_matcher, of_atlas = self.__dict__.get("fit_report_"), self.__dict__.get("report_")
        below = "" if of_matcher is None else of_matcher._repr_html_()
        return report(repr(self)) + below + ("" if of_atlas is None else report(of_atlas))


def _takes_weights(method: Any) -> bool:
    return "sample_weight" in inspect.signature(method).parameters


def _join_sklearn(base: ModuleType) -> None:
    Estimator.__bases__ = (base.BaseEstimator,)


class _WhenSklearnComes(importlib.abc.MetaPathFinder):
    """Finds nothing itself; has the estimators join once `sklearn.base` is loaded."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "sklearn.base":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_join(module: ModuleType) -> None:
            load(module)
            _join_sklearn(module)

        setattr(spec.loader, "exec_module", load_and_join)
        return spec


if "sklearn.base" in sys.modules:
    _join_sklearn(sys.modules["sklearn.base"])
else:
    sys.meta_path.insert(0, _WhenSklearnComes())
