"""Building estimators from import paths and parameters; only here the user's code is imported."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, cast

from evalreport.errors import UsageError
from evalreport.refit.plans import Estimator, Model, Table, Task
from evalreport.registry import close_names, unknown_name

Factory: TypeAlias = Callable[..., Model]


def require_refit() -> None:
    """Check that the libraries for refitting are installed.

    Raises
    ------
    UsageError
        scikit-learn or joblib is missing.
    """
    for library in ("sklearn", "joblib"):
        try:
            importlib.import_module(library)
        except ImportError:
            raise UsageError(
                f"{library} is not installed; scikit-learn and joblib do the refitting:"
                " install evalreport with its extra refit (in a clone: make env)"
            ) from None


def build(estimator: Estimator, folder: Path, *, chosen: Table, seed: int) -> Model:
    """Make an unfitted estimator.

    Parameters
    ----------
    folder
        The plan's folder, in which the user's modules are searched after the installed ones.
    chosen
        Parameters over those of the plan: a candidate of the grid, a value of the complexity.
    seed
        For every ``random_state`` that the plan leaves open.

    Raises
    ------
    Exception
        Any exception of the import or the factory.
    """
    make_importable(folder)
    factories = [import_factory(path) for path in estimator.factory]
    if len(factories) > 1:
        from sklearn.pipeline import make_pipeline

        made = make_pipeline(*(factory() for factory in factories))
        made.set_params(**estimator.parameters)
    else:
        takes = _parameters(factories[0])
        chosen_by_name = {name: value for name, value in chosen.items() if name in takes}
        random_state = {"random_state": seed} if "random_state" in takes else {}
        made = factories[0](**{**random_state, **estimator.parameters, **chosen_by_name})
    if hasattr(made, "get_params"):
        parameters = made.get_params(deep=True)
        made.set_params(**{name: value for name, value in chosen.items() if name in parameters})
        named = {*estimator.parameters, *chosen}
        for name, value in made.get_params(deep=True).items():
            if name.split("__")[-1] == "random_state" and value is None and name not in named:
                made.set_params(**{name: seed})
    return made


def make_importable(folder: Path) -> None:
    """Append a folder to the import path."""
    place = str(folder.resolve())
    if place not in sys.path:
        sys.path.append(place)


def import_factory(path: str) -> Factory:
    """Import ``module:name``; the name may have dots."""
    module, _, name = path.partition(":")
    return cast(Factory, functools.reduce(getattr, name.split("."), importlib.import_module(module)))


def _parameters(factory: Factory) -> set[str]:
    try:
        return set(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return set()


def check_buildable(estimator: Estimator, folder: Path, task: Task) -> None:
    """Build every variant of an estimator once, to find errors before the fits.

    Raises
    ------
    UsageError
        A module, name or parameter does not exist, code fails, or the object lacks ``fit`` or ``predict`` or is for
        another task.
    """
    place = f"estimator {estimator.name!r}"
    make_importable(folder)
    for path in estimator.factory:
        _check_import(path, place)
    try:
        made = build(estimator, folder, chosen={}, seed=0)
        takes = _parameters(import_factory(estimator.factory[0]))
        takes |= set(made.get_params(deep=True)) if hasattr(made, "get_params") else set()
        varied = estimator.complexity
        candidates = estimator.grid | ({} if varied is None else {varied.parameter: varied.values})
        for name, values in candidates.items():
            if name not in takes:
                raise UsageError(f"{place}: {unknown_name('parameter', name, takes)}")
            for value in values:
                build(estimator, folder, chosen={name: value}, seed=0)
    except UsageError:
        raise
    except Exception as error:  # the user's own code can raise anything
        raise UsageError(f"{place}: {estimator.factory[0]} cannot be made: {in_one_line(error)}") from error
    for method in ("fit", "predict"):
        if not callable(getattr(made, method, None)):
            raise UsageError(f"{place}: {type(made).__name__} has no method {method!r}")
    _check_kind(made, task, place)


def in_one_line(error: BaseException) -> str:
    """Return an exception in one line: its type, its message and the place in the user's code."""
    frame = inspect.getinnerframes(error.__traceback__)[-1] if error.__traceback__ else None
    ours = frame is None or Path(frame.filename).parent == Path(__file__).parent
    where = "" if frame is None or ours else f" ({Path(frame.filename).name}, line {frame.lineno})"
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}{where}" if text else f"{type(error).__name__}{where}"


def _check_import(path: str, place: str) -> None:
    module, _, name = path.partition(":")
    try:
        part: object = importlib.import_module(module)
    except Exception as error:  # the user's own code can raise anything
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            raise UsageError(
                f"{place}: there is no module {module!r}; it is looked for among the installed ones and in"
                " the plan's folder"
            ) from None
        why = in_one_line(error)
        raise UsageError(f"{place}: the module {module!r} cannot be imported: {why}") from error
    for step in name.split("."):
        if not hasattr(part, step):
            public = [entry for entry in dir(part) if not entry.startswith("_")]
            close = " or ".join(close_names(step, public))
            hint = f"did you mean {close}?" if close else "check its spelling"
            raise UsageError(f"{place}: {module} has no {name!r}; {hint}")
        part = getattr(part, step)
    if not callable(part):
        raise UsageError(f"{place}: {path} is not a class or function that makes an estimator")


def _check_kind(made: Model, task: Task, place: str) -> None:
    """Refuse a classifier for numbers and a regressor for classes, where the estimator says what it is."""
    if not hasattr(made, "__sklearn_tags__"):
        return
    from sklearn.base import is_classifier, is_regressor

    if task == "regression" and is_classifier(made):
        raise UsageError(f"{place} is a classifier, but the task is regression")
    if task != "regression" and is_regressor(made):
        raise UsageError(
            f"{place} is a regressor, but the task is {task}; set [data] task if the target is a number"
        )
