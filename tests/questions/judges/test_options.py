"""The scales of a judge and of people."""

from __future__ import annotations

import pytest

from evalreport.errors import UsageError
from evalreport.questions.judges.options import JudgeOptions, scales_of


def test_one_scale_is_that_of_both() -> None:
    """Two are the judge's and people's, in this order."""
    assert scales_of("1:5") == ((1.0, 5.0), (1.0, 5.0))
    assert scales_of("1:10,-1:1") == ((1.0, 10.0), (-1.0, 1.0))


@pytest.mark.parametrize("text", ["5", "5:1", "1:1", "a:b", "1:inf", "nan:1", "1:2:3", "1:5,", "1:5,1:5,1:5"])
def test_what_is_no_scale_is_refused(text: str) -> None:
    """When the options are checked, before a file is read."""
    with pytest.raises(UsageError, match="judge_scale"):
        JudgeOptions(judge_scale=text).check()
