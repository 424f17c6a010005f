"""A dozen situations of different kinds, whose truth is known: the first sentence says it, and nothing else.

All are run by ``make test-headline``.
"""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from evalreport.cli import main
from tests.headline import check, situations
from tests.samples.cases import quick

EXPECTED = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
NAMES = (
    "bin_clear", "bin_rare_proba", "bin_margin_noninf_names", "bin_baseline_undecided", "bin_inverted", "names_long",
    "multi_balanced", "reg_tiny", "outcome_passed", "gate_mixed", "trained_on_test", "cmp_gate_removed", "audit_first",
)  # fmt: skip
FEW = ("bin_clear", "outcome_passed", "gate_mixed", "cmp_gate_removed", "audit_first")
"""Those of the quick tests, one of each kind of run; the sentences of nearly all situations are in test_stored.py."""


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", quick(NAMES, FEW))
def test_the_first_sentence_says_what_is_true(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Headline, line below, titles, tone and exit code hold what must stand there and nothing that must not."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1740794400")
    codes, out, err = [], io.StringIO(), io.StringIO()
    for command in situations.SITUATIONS[name](tmp_path):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            codes.append(main(command[1:]))
    ran = {"codes": codes, "stdout": out.getvalue(), "stderr": err.getvalue(), "seconds": 0.0}
    (tmp_path / "ran.json").write_text(json.dumps(ran))
    assert check.faults(EXPECTED[name], check.seen(tmp_path)) == []
