"""What the report says of a judge: its section, the first caution, how it was decided, and no verdict where blocked."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from evalreport.questions.judges import section as judge
from evalreport.report.sections import decision, failures, methods
from evalreport.report.view import view_of
from tests.samples.judges import EXAMPLE, answers, favoured, rejected, run, run_of_example


def test_the_section_is_headed_by_its_finding() -> None:
    """A judge that favours a model is in the heading and the first caution; a fair one is headed by its agreement."""
    view = view_of(favoured())
    section = judge.describe(view)
    assert section is not None
    assert section.heading.startswith("The judge favours liked, which it overrates by ")
    assert decision.describe(view).cautions[0].startswith("The judge favours liked over ")
    fair = judge.describe(view_of(run(answers(favour=0.0))))
    assert fair is not None
    assert fair.heading.startswith("The judge agrees with people on ")
    assert "does not demonstrably differ in any of 3 pairs" in fair.text


def test_a_reader_sees_who_would_lead_by_the_judge_alone() -> None:
    """The judge's leader, the estimate's leader, and what the human outcomes are worth with the judge."""
    results = favoured()
    section = judge.describe(view_of(results))
    assert section is not None
    assert (
        "By the judge alone liked would lead; by the estimate from judge and people it is plain."
        in section.text
    )
    assert "With the judge, 150 answers judged by people are worth " in section.text
    assert [row.model.id for row in section.tables[0].rows if row.model] == [r.model for r in results.ranking]
    assert len(section.tables[2].rows) == 3


def test_pairs_are_better_minus_worse_with_their_one_interval() -> None:
    """Every pair is seen from the better model, by the interval of its verdict and the bias turned alike."""
    results = favoured()
    section = judge.describe(view_of(results))
    assert section is not None
    row = next(r for r in section.tables[2].rows if r.label == "plain − liked")
    estimate, bias = row.cells[2], row.cells[5]
    record = next(r for r in results.judge_bias if (r.a, r.b) == ("liked", "plain"))
    verdict = next(v for v in results.verdicts if v.about == ("liked", "plain"))
    assert not isinstance(estimate, str)
    assert not isinstance(bias, str)
    assert estimate.order is not None
    assert estimate.order > 0
    assert verdict.high is not None
    assert f"+{-verdict.low:.3f}" in estimate.beside  # type: ignore[operator]
    assert bias.order == -record.difference


def test_the_assumption_and_the_population_are_stated() -> None:
    """How this was decided says that gold must be a random part, that it was tested, and what it is about."""
    text = methods.describe(view_of(favoured())).text
    assert "assumes that the answers people judged are a random part of all (tested" in text
    assert "answers to questions like these" in text
    declared = methods.describe(view_of(run(rejected(), gold_sampled=True))).text
    assert "as declared with --gold-sampled" in declared


def test_a_blocked_run_claims_nothing() -> None:
    """No verdict in the headline, and the reason is the first caution."""
    described = decision.describe(view_of(run(rejected())))
    assert described.headline.startswith(
        "No verdict: the answers that people judged are no random part of all"
    )
    assert "no random part" in described.cautions[0]
    assert described.settle == ""


def test_what_would_settle_a_pair_counts_human_outcomes() -> None:
    """More judged answers alone do not: it says how many people would have to judge."""
    settle = decision.describe(view_of(run(answers(n=400, gold=60)))).settle
    assert "of them judged by people" in settle


def test_the_judge_s_word_is_named_as_such() -> None:
    """Where the models fail is what the judge says, and the page says so."""
    described = failures.describe_failures(view_of(favoured()))
    assert described is not None
    assert described.note.startswith("Right and wrong here are the judge's word.")
    assert "150 judged by people" in decision.about(view_of(favoured()))


def test_the_example_is_what_its_script_writes(tmp_path: Path) -> None:
    """make_data.py gives the committed answers, to the byte."""
    script = runpy.run_path(str(EXAMPLE / "make_data.py"))
    script["main"].__globals__["FOLDER"] = tmp_path
    script["main"]()
    committed = sorted((EXAMPLE / "answers").glob("*.csv"))
    assert [path.name for path in committed] == ["aspen.csv", "birch.csv", "cedar.csv"]
    for path in committed:
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("figure", ["0.786", "0.715", "0.687", "468", "226", "0.127", "0.020", "350"])
def test_the_example_s_readme_tells_its_figures(figure: str) -> None:
    """Each number of the README comes out of the run."""
    results = run_of_example()
    found = [r for r in results.judge_estimates if r.b is None]
    figures = [f"{r.value:.3f}" for r in found] + [f"{r.gold_effective:.0f}" for r in found]
    figures += [f"{abs(r.bias):.3f}" for r in results.judge_agreement]
    figures += decision.describe(view_of(results)).settle.replace(",", "").split()
    assert figure in figures
    assert figure in (EXAMPLE / "README.md").read_text(encoding="utf-8")
