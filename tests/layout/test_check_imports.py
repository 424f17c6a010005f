"""The check of the layout finds each kind of breach; a check that finds nothing proves nothing."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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
        for part in ("errors", "results", "data/loading", "metrics/labels", "report/html", "cli/run"):
            path = tmp_path / "evalreport" / f"{part}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('"""A part."""\n', encoding="utf-8")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
        return list(check.breaches(tmp_path))

    return with_file


@pytest.mark.parametrize(
    "name, source, said",
    [
        ("evalreport/data/loading.py", "import evalreport.metrics.labels", "stands in a higher layer"),
        (
            "evalreport/data/loading.py",
            "def f():\n    from evalreport.metrics import labels",
            "stands in a higher layer",
        ),
        ("evalreport/report/html.py", "from evalreport.data import loading", "uses results alone"),
        ("evalreport/metrics/labels.py", "def f():\n    import jinja2", "imports jinja2"),
        ("evalreport/data/loading.py", "import matplotlib.pyplot", "at the top of the file"),
        ("evalreport/cli/run.py", "import numpy as np", "`--help` would load it"),
        ("evalreport/cli/run.py", "from evalreport.data import loading", "`--help` would load it"),
        ("evalreport/__init__.py", "from evalreport.data import loading", "eagerly"),
        ("evalreport/cellar/wine.py", "", "in no layer"),
        ("evalreport/data/utils.py", "", "says nothing"),
        ("tests/helpers.py", "", "says nothing"),
        ("scripts/long.py", "x = 1\n" * 601, "601 lines"),
        ("tests/test_long.py", "x = 1\n" * 501, "501 lines"),
        ("evalreport/data/loading.py", "def f():\n" + "    x = 1\n" * 60, "f() has 61 lines"),
    ],
)
def test_each_breach_is_found_once(package, name, source, said):
    """Every rule of the layout, broken in one file: one line that names the file and the rule."""
    found = package(name, source)
    assert len(found) == 1
    assert found[0].startswith(name)
    assert said in found[0]


@pytest.mark.parametrize(
    "name, source",
    [
        ("evalreport/metrics/labels.py", "import numpy as np\nfrom evalreport.data import loading"),
        ("evalreport/cli/run.py", "def f():\n    from evalreport.data import loading\n    import rich"),
        ("evalreport/report/html.py", "def f():\n    import jinja2\nfrom evalreport import results"),
        ("evalreport/cli/run.py", "import typing\nif typing.TYPE_CHECKING:\n    import numpy as np"),
        ("evalreport/data/loading.py", 'def f():\n    """Say.\n' + "\n" * 80 + '    """\n    return 1'),
        ("scripts/long.py", "x = 1\n" * 600),
    ],
)
def test_what_is_allowed_is_not_found(package, name, source):
    """The right direction, lazy imports, imports for type checkers, the length of docstrings."""
    assert package(name, source) == []
