"""Fits as tasks, each with a digest of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from evalreport.refit.examples import Examples
from evalreport.refit.fitting import Job, Search
from evalreport.refit.plans import Estimator, Plan, Variant, as_table, variants
from evalreport.refit.splits import Fit, seed_of
from evalreport.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One fit of one variant of one estimator.

    Attributes
    ----------
    key
        (32 bytes) digest of everything that the result depends on.
    """

    variant: Variant
    fit: Fit
    job: Job
    key: bytes


def tasks_of(plan: Plan, examples: Examples, fits: Sequence[Fit]) -> tuple[Task, ...]:
    """List the tasks: estimators in the plan's order, their variants, the fits."""
    modules = local_modules(plan.folder).items()
    code = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in modules}
    shared = _digest((examples.digest, code, versions())).hex()
    divisions = [hashlib.sha256(f.train.tobytes() + b"|" + f.test.tobytes()).hexdigest() for f in fits]

    tasks = []
    for estimator in plan.estimators:
        for variant in variants(estimator):
            for number, (fit, division) in enumerate(zip(fits, divisions, strict=True)):
                job = _job(plan, estimator, variant, fit, number)
                # Of the complexity, only this task's value matters, which is among the chosen parameters.
                parts = as_table(estimator) | {"complexity": job.chosen}
                rest = (job.seed, job.part, job.train_predictions, asdict(job.search))
                key = _digest((shared, division, parts, rest))
                tasks.append(Task(variant=variant, fit=fit, job=job, key=key))
    return tuple(tasks)


def _digest(content: object) -> bytes:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).digest()


def _job(plan: Plan, estimator: Estimator, variant: Variant, fit: Fit, number: int) -> Job:
    """Return a job, whose seed depends on the plan's seed, the estimator's name and the fit alone."""
    scheme = plan.scheme
    assert scheme.inner_folds is not None
    assert scheme.select is not None
    folds, select, seed = scheme.inner_folds, scheme.select, seed_of(plan.seed, "inner folds", number)
    search = Search(folds=folds, select=select, stratify=bool(scheme.stratify), seed=seed)
    return Job(
        estimator=estimator,
        chosen=variant.chosen,
        train=fit.train,
        test=fit.test,
        part=fit.part,
        seed=seed_of(plan.seed, f"fit {estimator.name}", number),
        search=search,
        train_predictions=bool(scheme.train_predictions),
        folder=plan.folder.resolve(),
    )


def versions() -> dict[str, str]:
    """Return the versions that the predictions depend on."""
    libraries = {name: version(name) for name in ("numpy", "scikit-learn", "scipy")}
    return {"evalreport": __version__, "python": platform.python_version(), **libraries}


def local_modules(folder: Path) -> dict[str, Path]:
    """Return the user's modules that were imported from a folder, by name."""
    place = os.path.normcase(f"{folder.resolve()}{os.sep}")
    modules = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        # Compared as texts: a process has thousands of modules, and paths of all of them take longer than a small fit.
        if file is None or not file.endswith(".py") or not os.path.normcase(file).startswith(place):
            continue
        path = Path(file)
        ours = name.split(".")[0] in ("__main__", "evalreport")
        if not ours and not {"site-packages", "dist-packages"} & set(path.parts):
            modules[name] = path
    return modules
