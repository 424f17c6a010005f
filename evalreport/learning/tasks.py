"""A plan, its examples and its fits -> the list of tasks: every variant of every estimator on every fit."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evalreport.errors import UsageError
from evalreport.learning.examples import Examples, data_digest
from evalreport.learning.fitting import Job
from evalreport.learning.plans import Estimator, Plan, axis, describe
from evalreport.learning.search import Search
from evalreport.learning.splits import Fit, seed_of
from evalreport.version import __version__

_FORM = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One fit of one variant of one estimator.

    Attributes
    ----------
    model
        The model's name in the prediction file.
    complexity
        Its place on the axis of complexity, where a parameter is varied.
    key
        (32 bytes) digest of everything that decides the result.
    """

    model: str
    complexity: float | None
    fit: Fit
    job: Job
    key: bytes


def tasks_of(plan: Plan, examples: Examples, fits: Sequence[Fit]) -> tuple[Task, ...]:
    """List the tasks: estimators in the plan's order, their variants, the fits."""
    shared = _shared(plan, examples)
    divisions = [hashlib.sha256(f.train.tobytes() + b"|" + f.test.tobytes()).hexdigest() for f in fits]
    return tuple(
        _task(plan, estimator, variant, fit, number, (shared, division))
        for estimator in plan.estimators
        for variant in _variants(estimator)
        for number, (fit, division) in enumerate(zip(fits, divisions, strict=True))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    model: str
    chosen: Mapping[str, Any]
    complexity: float | None


def _variants(estimator: Estimator) -> Iterator[_Variant]:
    varied = estimator.complexity
    if varied is None:
        yield _Variant(model=estimator.name, chosen={}, complexity=None)
        return
    for value, number in zip(varied.values, axis(varied), strict=True):
        name = f"{estimator.name} ({varied.parameter}={value})" if varied.as_models else estimator.name
        yield _Variant(model=name, chosen={varied.parameter: value}, complexity=number)


def models_of(plan: Plan) -> tuple[str, ...]:
    """Return the names of the models, in the plan's order.

    Examples
    --------
    >>> from evalreport.learning.plans import Complexity, DataSource, Scheme
    >>> tree = Estimator(name="tree", factory=("m:f",),
    ...                  complexity=Complexity(parameter="max_depth", values=(1, 2), as_models=True))
    >>> data = DataSource(file=Path("a.csv"), target="y")
    >>> models_of(Plan(data=data, scheme=Scheme(name="holdout"), estimators=(tree,)))
    ('tree (max_depth=1)', 'tree (max_depth=2)')
    """
    return tuple(dict.fromkeys(v.model for estimator in plan.estimators for v in _variants(estimator)))


def check_models(plan: Plan) -> None:
    """Refuse two estimators whose models would have one name.

    Raises
    ------
    UsageError
        A value of a complexity, made a model, that is called like another estimator's.
    """
    owner: dict[str, str] = {}
    for estimator in plan.estimators:
        for name in dict.fromkeys(variant.model for variant in _variants(estimator)):
            if owner.setdefault(name, estimator.name) != estimator.name:
                raise UsageError(f"two estimators have a model {name!r}; rename {estimator.name!r}")


def _task(
    plan: Plan, estimator: Estimator, variant: _Variant, fit: Fit, number: int, shared: tuple[str, str]
) -> Task:
    """Put a task together; its seed belongs to the estimator's name and the fit, and to nothing else."""
    scheme = plan.scheme
    assert scheme.inner_folds is not None
    assert scheme.select is not None
    job = Job(
        estimator=estimator,
        chosen=variant.chosen,
        train=fit.train,
        test=fit.test,
        part=fit.part,
        seed=seed_of(plan.seed, f"fit {estimator.name}", number),
        search=Search(
            grid=estimator.grid,
            folds=scheme.inner_folds,
            select=scheme.select,
            stratify=bool(scheme.stratify),
            seed=seed_of(plan.seed, "inner folds", number),
        ),
        train_predictions=bool(scheme.train_predictions),
        folder=plan.folder.resolve(),
    )
    decides = (
        *shared,
        describe_estimator(plan, estimator),
        dict(variant.chosen),
        (job.seed, job.part, job.train_predictions),
        (job.search.folds, job.search.select, job.search.stratify, job.search.seed)
        if estimator.grid
        else None,
    )
    key = hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).digest()
    return Task(model=variant.model, complexity=variant.complexity, fit=fit, job=job, key=key)


def describe_estimator(plan: Plan, estimator: Estimator) -> dict[str, Any]:
    """Return what decides an estimator's fits as plain values; its complexity's other values do not."""
    found: dict[str, Any] = describe(plan)["estimators"][plan.estimators.index(estimator)]
    return {name: value for name, value in found.items() if name != "complexity"}


def versions() -> dict[str, str]:
    """Return the versions that the predictions depend on."""
    libraries = ("numpy", "scikit-learn", "scipy")
    return {
        "evalreport": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }


def local_modules(folder: Path) -> dict[str, Path]:
    """Return the modules of the user's own that were imported from a folder, by name."""
    place = folder.resolve()
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file is None or name.split(".")[0] in ("__main__", "evalreport") or not file.endswith(".py"):
            continue
        path = Path(file)
        if path.is_relative_to(place) and not {"site-packages", "dist-packages"} & set(path.parts):
            found[name] = path
    return found


def _shared(plan: Plan, examples: Examples) -> str:
    """Digest what every task depends on: the data, the user's code, the versions."""
    code = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in local_modules(plan.folder).items()
    }
    said = (_FORM, data_digest(examples, plan.data), code, versions())
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
