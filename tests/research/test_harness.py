"""The harness of the studies: the example of research/README.md, judged by confidence limits."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from research.studies.harness import Run, Study
from research.studies.judgement import Rate

README = Path(__file__).resolve().parents[2] / "research" / "README.md"


@pytest.mark.slow
def test_example_of_a_study_runs_and_is_judged_by_confidence_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten data sets a cell: two lines with their promise, and the upper limit of a rate of 0 of 10 is 1 - 0.05^0.1."""
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "equal_models.py").write_text(block, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    study: Study = importlib.import_module("equal_models").STUDY
    lines = list(study.confirm(Run(10, seed=1)))
    assert [line.promise for line in lines] == [
        "equal models, n = 50: decided",
        "equal models, n = 500: decided",
    ]
    for line in lines:
        assert isinstance(line, Rate)
        assert (line.data_sets, line.limit) == (10, 0.07)
        if line.count == 0:
            assert round(line.bound, 6) == round(1 - 0.05**0.1, 6)
            assert line.verdict == "not shown"
    assert list(study.confirm(Run(10, seed=1, only="n = 500"))) == lines[1:]
