"""A judge on another scale than people's: nothing is said of its bias (cases2/11)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport
from evalreport.cli import main
from evalreport.errors import EvalreportError, UsageError
from tests.samples.judges import Source, answers


def graded(*, on_ten: bool = True) -> Source:
    """Return a judge from 1 to 10, or by the same grades from 1 to 5, and people from 1 to 5 of every fourth answer."""
    rng = np.random.default_rng(7)
    found: Source = {}
    for model, ability in (("large", 3.6), ("small", 3.0)):
        people = np.clip(np.round(rng.normal(ability, 1.0, 400)), 1, 5)
        people[:5] = np.arange(1, 6)
        judge = 1 + (people - 1) * 9 / 4 if on_ten else people
        found[model] = {"outcome": judge, "gold": np.where(np.arange(400) % 4 == 0, people, np.nan)}
    return found


def run(source: Source, **options: object) -> evalreport.Results:
    """Compare the models."""
    return evalreport.evaluate(source, resamples=50, **options)


def test_of_a_judge_on_another_scale_nothing_is_said_of_favour() -> None:
    """The judge agrees with people on every answer: the favour of before came from the scale alone."""
    results = run(graded())
    (scale,) = results.judge_scales
    assert (scale.judge_low, scale.judge_high, scale.human_low, scale.human_high) == (1, 10, 1, 5)
    assert not scale.same
    assert results.judge_bias == []
    assert all(r.bias is None and r.reason is not None for r in results.judge_agreement)
    codes = {w.code: str(w.text) for w in results.warnings}
    assert "judge_favours" not in codes
    assert "--judge-scale" in codes["judge_scales_differ"]
    assert "favour" not in str(results.headline.text if results.headline else "")
    assert "The judge favours" not in results.to_html()
    assert {c.state for c in results.checks if c.code == "judge_favours"} == {"not_applicable"}


def test_mapped_onto_people_s_scale_the_judge_is_compared() -> None:
    """With both scales named the same grades give the same results as on one scale, and no bias."""
    mapped, plain = run(graded(), judge_scale="1:10,1:5"), run(graded(on_ten=False))
    for one, other in zip(mapped.judge_agreement, plain.judge_agreement, strict=True):
        assert one.bias == pytest.approx(0, abs=1e-12)
        assert other.bias == 0
    for one, other in zip(mapped.judge_estimates, plain.judge_estimates, strict=True):
        assert (one.judge, one.value) == pytest.approx((other.judge, other.value))
    assert not [r for r in mapped.judge_bias if r.flagged]
    assert "judge_scales_differ" not in {w.code for w in (*mapped.warnings, *plain.warnings)}


def test_declared_to_be_one_scale_the_judge_is_compared_as_it_is() -> None:
    """One scale named is that of both: a judge from 1 to 10 is far off people who stay below 6."""
    results = run(graded(), judge_scale="1:10")
    assert results.judge_scales[0].declared
    assert all((r.bias or 0) > 1 for r in results.judge_agreement)


def test_right_and_wrong_is_one_scale() -> None:
    """Outcomes of 0 and 1 of both, and a judge's share beside people's word."""
    shares = {
        model: {"outcome": 0.2 + 0.3 * columns["outcome"], "gold": columns["gold"]}
        for model, columns in answers().items()
    }
    for source in (answers(), shares):
        results = run(source)
        assert results.judge_scales[0].same
        assert len(results.judge_bias) == 3


def test_a_grade_outside_its_scale_is_named_with_its_line(tmp_path: Path) -> None:
    """The judge gives a 10 in the second line of the file, on a scale that ends at 9."""
    file = tmp_path / "a.csv"
    file.write_text("id,model,outcome,gold\nq1,a,10,5\nq2,a,3,\n")
    with pytest.raises(EvalreportError, match=r"'10' is outside the scale from 1 to 9"):
        evalreport.evaluate(file, judge_scale="1:9,1:5")
    assert main(["run", str(file), "--judge-scale", "1:9,1:5", "-q", "-o", str(tmp_path / "out")]) == 2


@pytest.mark.parametrize("text", ["10", "5:1", "1:5,1:10,0:1", "a:b", "1:inf", "1:2:3", ""])
def test_a_scale_that_cannot_be_read_is_refused(text: str) -> None:
    """The message has the form that is expected."""
    with pytest.raises(UsageError, match="judge_scale"):
        run(graded(), judge_scale=text)


def test_a_scale_without_people_is_refused() -> None:
    """Without the column gold there is nothing to be mapped onto."""
    with pytest.raises(UsageError, match="no column gold"):
        run(
            {name: {"outcome": columns["outcome"]} for name, columns in graded().items()},
            judge_scale="1:10,1:5",
        )
