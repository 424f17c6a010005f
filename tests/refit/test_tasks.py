"""Tasks: what a finished fit is known by, and the user's modules on which it depends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from evalreport.refit.building import make_importable
from evalreport.refit.examples import read_examples
from evalreport.refit.plans import Plan, read_plan
from evalreport.refit.splits import fits_of
from evalreport.refit.tasks import Task, local_modules, tasks_of
from tests.refit.conftest import BAYES, TREE

Write = Callable[..., Path]


def tasks(plan: Plan) -> tuple[Task, ...]:
    """The tasks of a plan, whose searches choose by accuracy."""
    plan = replace(plan, scheme=replace(plan.scheme, select="accuracy"))
    examples = read_examples(plan.data, plan.folder)
    return tasks_of(plan, examples, fits_of(examples, plan.scheme, plan.seed))


def test_a_task_is_known_by_all_that_decides_it_and_by_nothing_else(plan: Write):
    """Each of six has a key of its own; jobs, the backend and another estimator change none, another seed all."""
    path = plan('name = "kfold"\nfolds = 3', TREE, BAYES)
    usual = read_plan(path)
    keys = [task.key for task in tasks(usual)]
    assert len(set(keys)) == 6
    assert [task.key for task in tasks(replace(usual, jobs=7, backend="threads"))] == keys
    alone = replace(usual, estimators=usual.estimators[1:])
    assert [task.key for task in tasks(alone)] == keys[3:]
    assert not {task.key for task in tasks(replace(usual, seed=1))} & set(keys)


def test_modules_beside_the_plan_are_found_and_installed_ones_are_not(tmp_path: Path, monkeypatch):
    """Their bytes decide what a fit gives, and a cluster is sent their files."""
    (tmp_path / "module_beside_the_plan.py").write_text("VALUE = 1\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    make_importable(tmp_path)
    import module_beside_the_plan

    assert local_modules(tmp_path) == {"module_beside_the_plan": Path(module_beside_the_plan.__file__)}
