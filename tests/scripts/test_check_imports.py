"""The check of the imports finds each kind of breach; a check that finds nothing proves nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DESIGN = """# The plan

    -> errors, schema, options    below everything
    -> engine
    -> loading        files -> Predictions
    -> metrics
    -> rooms
    -> plots, report
    -> cli
    -> audit, refit
"""


@pytest.fixture(scope="module")
def check():
    """The script, loaded as a module."""
    spec = importlib.util.spec_from_file_location("check_imports", ROOT / "scripts" / "check_imports.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["check_imports"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["check_imports"]


@pytest.fixture
def package(tmp_path: Path, check):
    """A small package, one file of which is as given; returns what the check finds in it."""

    def with_file(name: str, source: str) -> list[str]:
        parts = (
            "__init__", "errors", "options", "schema/results", "loading/ids", "loading/load", "engine/ranks",
            "metrics/labels", "metrics/__init__", "report/html", "audit/store", "refit/plans", "cli/run",
            "questions/cheese/compute",
        )  # fmt: skip
        for part in parts:
            path = tmp_path / "evalreport" / f"{part}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('"""A part."""\n', encoding="utf-8")
        design = tmp_path / "docs" / "design.md"
        design.parent.mkdir()
        design.write_text(DESIGN, encoding="utf-8")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return list(check.breaches(tmp_path))

    return with_file


FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from evalreport.{} import {}"


@pytest.mark.parametrize(
    "name, source, said",
    [
        ("evalreport/loading/load.py", "import evalreport.metrics.labels", "higher in the order"),
        (
            "evalreport/loading/load.py",
            "def f():\n    from evalreport.metrics import labels",
            "higher in the order",
        ),
        ("evalreport/loading/load.py", FOR_TYPES.format("metrics", "labels"), "higher in the order"),
        ("evalreport/engine/ranks.py", "from evalreport.loading import ids", "higher in the order"),
        (
            "evalreport/schema/results.py",
            "def f():\n    from evalreport.report import page",
            "higher in the order",
        ),
        ("evalreport/errors.py", "import evalreport.options", "higher in the order"),
        ("evalreport/loading/load.py", "def f():\n    import evalreport", "the package's own page"),
        ("evalreport/schema/results.py", "import evalreport", "the package's own page"),
        ("evalreport/report/page.py", "from evalreport.loading import load", "uses results alone"),
        ("evalreport/report/page.py", "from evalreport.metrics import labels", "uses results alone"),
        ("evalreport/refit/plans.py", "from evalreport.audit import store", "do not import one another"),
        (
            "evalreport/schema/results.py",
            "from importlib import import_module\nimport_module('evalreport.report')",
            "by a string",
        ),
        ("evalreport/report/page.py", "def f():\n    __import__('evalreport.metrics')", "by a string"),
        ("evalreport/metrics/labels.py", "def f():\n    import jinja2", "imports jinja2"),
        ("evalreport/loading/load.py", "import matplotlib.pyplot", "at the top of the file"),
        ("evalreport/cli/run.py", "import numpy as np", "`--help` would load it"),
        ("evalreport/cli/run.py", "from evalreport.loading import load", "`--help` would load it"),
        ("evalreport/refit/commands.py", "from evalreport.loading import load", "`--help` would load it"),
        ("evalreport/__init__.py", "from evalreport.loading import load", "eagerly"),
        ("evalreport/cellar/wine.py", "", "in no line of the order"),
        ("evalreport/loading/utils.py", "", "says nothing"),
        ("tests/helpers.py", "", "says nothing"),
        (
            "evalreport/questions/wine/records.py",
            "from evalreport.metrics import labels",
            "higher in the order",
        ),
        ("evalreport/questions/wine/compute.py", "from evalreport.report import html", "higher in the order"),
        ("evalreport/questions/wine/section.py", "from evalreport.loading import load", "uses results alone"),
        (
            "evalreport/questions/wine/compute.py",
            "import evalreport.questions.cheese.compute",
            "the room of wine",
        ),
    ],
)
def test_each_breach_is_found_once(package, name, source, said):
    """Every rule, broken in one file: one line that names the file and the rule."""
    found = package(name, source)
    assert len(found) == 1
    assert found[0].startswith(name)
    assert said in found[0]


@pytest.mark.parametrize(
    "source",
    [
        "from evalreport.loading import load",
        "def f():\n    from evalreport.loading import load",
        FOR_TYPES.format("loading", "load"),
    ],
)
def test_a_circle_is_found_however_it_is_imported(package, check, tmp_path, source):
    """At the top of the file, inside a function, or for type checkers alone: both modules are named."""
    assert package("evalreport/loading/load.py", "from evalreport.loading import ids") == []
    (tmp_path / "evalreport/loading/ids.py").write_text(source, encoding="utf-8")
    (found,) = check.breaches(tmp_path)
    assert found.endswith("a circle of imports: evalreport.loading.ids, evalreport.loading.load")


@pytest.mark.parametrize(
    "name, source",
    [
        ("evalreport/metrics/labels.py", "import numpy as np\nfrom evalreport.loading import load"),
        ("evalreport/schema/results.py", "import evalreport.questions.wine.records"),
        ("evalreport/questions/wine/compute.py", "import numpy as np\nfrom evalreport.metrics import labels"),
        ("evalreport/questions/wine/section.py", "from evalreport.report import html"),
        ("evalreport/schema/results.py", "from evalreport.errors import UsageError"),
        ("evalreport/schema/results.py", "def f():\n    import evalreport"),
        ("evalreport/cli/run.py", "def f():\n    from evalreport.loading import load\n    import rich"),
        ("evalreport/report/page.py", "def f():\n    import jinja2\nfrom evalreport.schema import results"),
        ("evalreport/report/page.py", "def f():\n    from evalreport.metrics import METRICS"),
        ("evalreport/cli/run.py", "import typing\nif typing.TYPE_CHECKING:\n    import numpy as np"),
        ("evalreport/cli/run.py", FOR_TYPES.format("loading", "load")),
        ("evalreport/refit/building.py", "import importlib\nimportlib.import_module('sklearn')"),
        ("evalreport/loading/load.py", "def f():\n" + "    x = 1\n" * 700),
    ],
)
def test_what_is_allowed_is_not_found(package, name, source):
    """The right direction, lazy imports, imports for type checkers, users' estimators, long files."""
    assert package(name, source) == []


def test_the_order_is_that_of_the_plan(check):
    """Each package of the project stands in docs/design.md, and each that stands there exists."""
    order = check.order_of_packages((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
    there = {
        p.stem for p in (ROOT / "evalreport").iterdir() if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    assert set(order) == there - {"__init__", "__main__", "questions"} | {"rooms"}
