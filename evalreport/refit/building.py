"""Building estimators from import paths and parameters; only here the user's code is imported."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError
from evalreport.refit.examples import Features, Rows, rows_of
from evalreport.refit.plans import Estimator, Model, Table, Task
from evalreport.registry import unknown_name

HALF_SPACES = frozenset(
    (
        *("LogisticRegression", "LinearSVC", "Perceptron", "SGDClassifier", "RidgeClassifier"),
        "LinearDiscriminantAnalysis",
    )
)
"""Classifiers of two classes that divide the space of features by a hyperplane."""

Factory: TypeAlias = Callable[..., Model]


def count_parameters(model: Model, features: Features, train: Rows, n_classes: int) -> float | None:
    """Return the (effective) number of parameters of a fitted estimator; None: unknown.

    An estimator can state it in ``n_parameters_``. Otherwise: a tree's leaves (K - 1 numbers each for K
    classes), the coefficients of least squares and of logistic regression without penalty, those of the lasso that
    are not 0, the trace of ridge regression's hat matrix, n / k of k nearest neighbours; intercepts count. Of a
    pipeline the last step counts.

    Parameters
    ----------
    features, train
        The feature matrix or data frame, and the rows that the model was fitted on.
    n_classes
        0 in regression.

    References
    ----------
    Hastie, Tibshirani and Friedman (2009), sections 2.3.2 (k nearest neighbours), 3.4.1 (ridge) and 3.4.2 (lasso).
    """
    own = getattr(model, "n_parameters_", None)
    if own is not None:
        return float(own)
    last, before = (model[-1], model[:-1]) if hasattr(model, "steps") else (model, None)
    each = max(n_classes - 1, 1)
    kind = type(last).__name__
    if hasattr(last, "get_n_leaves"):
        return float(last.get_n_leaves() * each)
    if kind in ("KNeighborsClassifier", "KNeighborsRegressor"):
        return float(len(train) / last.n_neighbors * each)
    if kind == "LinearRegression":
        return float(np.asarray(last.coef_).size + bool(last.fit_intercept))
    if kind == "LogisticRegression" and (float("inf") == last.C or getattr(last, "penalty", "") is None):
        return float(last.coef_.size + last.coef_.shape[0] * bool(last.fit_intercept))
    if kind == "Lasso":
        return float(np.count_nonzero(last.coef_) + bool(last.fit_intercept))
    if kind == "Ridge" and np.ndim(last.alpha) == 0:
        rows = rows_of(features, train)
        seen = rows if before is None or len(before) == 0 else before.transform(rows)
        return _ridge(
            np.asarray(seen, dtype=np.float64), float(last.alpha), intercept=bool(last.fit_intercept)
        )
    return None


def vc_dimension(model: Model) -> float | None:
    """Return the VC dimension of a fitted classifier's family; None: unknown.

    An estimator can state it in ``vc_dimension_``. Otherwise: half-spaces of p features, p + 1 (p without an
    intercept). A penalty can only make it smaller, so the bound still holds.

    References
    ----------
    Vapnik (1995), section 3.6.
    """
    own = getattr(model, "vc_dimension_", None)
    if own is not None:
        return float(own)
    last = model[-1] if hasattr(model, "steps") else model
    if type(last).__name__ not in HALF_SPACES:
        return None
    coefficients = np.atleast_2d(last.coef_)
    if len(coefficients) > 1:  # several classes
        return None
    return float(coefficients.shape[1] + bool(getattr(last, "fit_intercept", True)))


def _ridge(matrix: npt.NDArray[np.float64], alpha: float, *, intercept: bool) -> float:
    """Return df = sum d^2 / (d^2 + alpha) over the singular values d of the centred matrix, and the intercept."""
    centred = matrix - matrix.mean(axis=0) if intercept else matrix
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    squares = squares[squares > np.finfo(float).eps * squares.max(initial=0.0)]
    return float((squares / (squares + alpha)).sum() + intercept)


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
        made = _made(factories[0], estimator.parameters, chosen, seed)
    own = getattr(made, "get_params", None)
    if own is not None:
        known = own(deep=True)
        made.set_params(**{name: value for name, value in chosen.items() if name in known})
        _set_random_states(made, {*estimator.parameters, *chosen}, seed)
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
        for candidate in variants(estimator):
            _check_known(made, estimator, candidate, place)
            build(estimator, folder, chosen=candidate, seed=0)
    except UsageError:
        raise
    except Exception as error:  # the user's own code can raise anything
        raise UsageError(f"{place}: {estimator.factory[0]} cannot be made: {in_one_line(error)}") from error
    for method in ("fit", "predict"):
        if not callable(getattr(made, method, None)):
            raise UsageError(f"{place}: {type(made).__name__} has no method {method!r}")
    _check_kind(made, task, place)


def variants(estimator: Estimator) -> list[dict[str, object]]:
    """Return each candidate value of the grid and of the complexity on its own."""
    given = dict(estimator.grid)
    if estimator.complexity is not None:
        given[estimator.complexity.parameter] = estimator.complexity.values
    return [{name: value} for name, values in given.items() for value in values]


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
        found: object = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
            raise UsageError(
                f"{place}: there is no module {module!r}; it is looked for among the installed ones and in"
                " the plan's folder"
            ) from None
        raise UsageError(
            f"{place}: the module {module!r} cannot be imported: {in_one_line(error)}"
        ) from error
    except Exception as error:  # the user's own code can raise anything
        raise UsageError(
            f"{place}: the module {module!r} cannot be imported: {in_one_line(error)}"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            known = [entry for entry in dir(found) if not entry.startswith("_")]
            hint = unknown_name("name", part, known).split("; ", 1)[1] if known else ""
            hint = hint if hint.startswith("did") else "check its spelling"
            raise UsageError(f"{place}: {module} has no {name!r}; {hint}")
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{place}: {path} is not a class or function that makes an estimator")


def _check_known(made: Model, estimator: Estimator, candidate: Table, place: str) -> None:
    own = getattr(made, "get_params", None)
    factory = import_factory(estimator.factory[0])
    known = {**({} if own is None else own(deep=True)), **dict.fromkeys(_parameters(factory))}
    for name in candidate:
        if name not in known:
            raise UsageError(f"{place}: {unknown_name('parameter', name, known)}")


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


def _made(factory: Factory, parameters: Table, chosen: Table, seed: int) -> Model:
    """Call the factory with the parameters, and with those chosen parameters and the seed that it takes by name."""
    takes = _parameters(factory)
    passed = {**parameters, **{name: value for name, value in chosen.items() if name in takes}}
    if "random_state" in takes and "random_state" not in passed:
        passed["random_state"] = seed
    return factory(**passed)


def _parameters(factory: Factory) -> set[str]:
    try:
        return set(inspect.signature(factory).parameters)
    except (TypeError, ValueError):
        return set()


def _set_random_states(made: Model, named: set[str], seed: int) -> None:
    """Set every ``random_state`` that is None, so that a fit depends on its seed alone."""
    for name, value in made.get_params(deep=True).items():
        if name.split("__")[-1] == "random_state" and value is None and name not in named:
            made.set_params(**{name: seed})
