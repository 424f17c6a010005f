"""Fits as tasks, each with a digest of everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from evalreport.refit.examples import Examples
from evalreport.refit.plans import Estimator, Plan, Scheme, Variant, as_table, variants
from evalreport.refit.splits import Fit, seed_of
from evalreport.version import __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One fit of one variant of one estimator: with the examples, all that its result depends on.

    Attributes
    ----------
    scheme
        With its defaults filled in: the search of a grid, and whether training rows are predicted, too.
    seed, search_seed
        Of the estimator, and of the inner folds of its search.
    folder
        The folder of the user's modules.
    key
        (32 bytes) digest of everything that the result depends on.
    """

    estimator: Estimator
    variant: Variant
    fit: Fit
    scheme: Scheme
    seed: int
    search_seed: int
    folder: Path
    key: bytes

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers that tell this fit from the others of its model."""
        sized = {"train_size": len(self.fit.train)} if self.fit.sized else {}
        varied = {} if self.variant.complexity is None else {"complexity": self.variant.complexity}
        return {**self.fit.keys, **sized, **varied}


def tasks_of(plan: Plan, examples: Examples, fits: Sequence[Fit]) -> tuple[Task, ...]:
    """List the tasks: estimators in the plan's order, their variants, the fits.

    The seed of a task depends on the plan's seed, the estimator's name and the fit alone.
    """
    modules = local_modules(plan.folder).items()
    code = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in modules}
    shared = _digest((examples.digest, code, versions())).hex()
    divisions = [hashlib.sha256(f.train.tobytes() + b"|" + f.test.tobytes()).hexdigest() for f in fits]
    scheme, folder = plan.scheme, plan.folder.resolve()
    how = (scheme.train_predictions, scheme.inner_folds, scheme.select, scheme.stratify)

    tasks = []
    for estimator in plan.estimators:
        for variant in variants(estimator):
            # Of the complexity, only this task's value matters, which is among the chosen parameters.
            parts = as_table(estimator) | {"complexity": variant.chosen}
            for number, (fit, division) in enumerate(zip(fits, divisions, strict=True)):
                seed = seed_of(plan.seed, f"fit {estimator.name}", number)
                search_seed = seed_of(plan.seed, "inner folds", number)
                key = _digest((shared, division, parts, seed, search_seed, fit.part, how))
                tasks.append(
                    Task(
                        estimator=estimator, variant=variant, fit=fit, scheme=scheme,
                        seed=seed, search_seed=search_seed, folder=folder, key=key,
                    )
                )  # fmt: skip
    return tuple(tasks)


def _digest(content: object) -> bytes:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).digest()


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
