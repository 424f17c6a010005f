"""Traps K, T, U, V, X: what goes wrong elsewhere when results are put into words."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import evalreport
from evalreport.metrics.registry import METRICS
from evalreport.schema.results import Results
from tests.samples.traps import evaluate, labelled, noisy_scores, paired_counts

pytestmark = pytest.mark.usefixtures("undrawn")


@cache
def undecided() -> Results:
    """Compare two models of nearly equal accuracy."""
    return evaluate(paired_counts(80, 6, 5, 9))


@cache
def of_three() -> Results:
    """Compare three models with independent noise."""
    return evaluate(noisy_scores(seed=4, models=("a", "b", "c")))


def spoken(results: Results, folder: Path) -> str:
    """Return all that the Markdown and HTML reports say, without the drawings and the style."""
    outcome = evalreport.render(results, folder / "report", formats=["html", "md"])
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in outcome.paths if path.suffix in {".html", ".md"}
    )
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", text, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", text)


def test_k_no_rejection_is_not_sameness() -> None:
    """K: without a margin nothing is equivalent: it is not settled, and the text says what was detectable."""
    (verdict,) = undecided().verdicts
    assert verdict.verdict == "undecided"
    assert "ot settled" in verdict.text
    assert "With 80 % power this test reveals a difference of" in str(verdict.text)
    assert not re.search(
        r"no difference|the same|equivalent|equally good|as good as", str(verdict.text), re.IGNORECASE
    )


@pytest.mark.usefixtures("primary_alone")
def test_k_equivalent_needs_a_margin() -> None:
    """K: `equivalent` appears only with a declared margin, and only where the interval lies inside it."""
    source = paired_counts(900, 5, 5, 90)  # difference 0, standard error 0.0032
    assert {v.verdict for v in evaluate(source).verdicts} == {"undecided"}
    assert {v.verdict for v in evaluate(source, margin=0.05).verdicts} == {"equivalent"}
    assert {v.verdict for v in evaluate(source, margin=0.001).verdicts} == {"undecided"}


def test_k_no_tick_for_an_undecided_pair(tmp_path: Path) -> None:
    """K: the report of an undecided pair holds no tick mark and no word of sameness."""
    text = spoken(undecided(), tmp_path)
    assert not re.search("[✓✔☑✅]", text)
    assert not re.search(r"no (significant )?difference between|perform(s)? equally", text, re.IGNORECASE)


@pytest.mark.slow
def test_t_significant_never_stands_without_its_test(tmp_path: Path) -> None:
    """T: a sentence of the report that says 'significant' names a test or a p value, or speaks of digits."""
    for results in (undecided(), of_three()):
        for sentence in re.split(r"(?<=[.!?])\s", spoken(results, tmp_path)):
            if re.search(r"\bsignifican", sentence, re.IGNORECASE):
                assert re.search(r"\btest\b|\bp\b|McNemar|digit", sentence), sentence


def test_u_overlap_is_never_advised(tmp_path: Path) -> None:
    """U: where overlap is mentioned it is called no test; the difference has its own interval."""
    results = of_three()
    for sentence in re.split(r"(?<=[.!?])\s", spoken(results, tmp_path)):
        if re.search(r"overlap", sentence, re.IGNORECASE):
            assert re.search(r"\bnot?\b|never|instead", sentence, re.IGNORECASE), sentence
    for row in results.comparisons:
        if METRICS[row.metric].inference.no_interval:
            assert row.reason
        elif row.recommended:
            assert row.interval_method
            assert row.low is not None
            assert row.high is not None


def test_v_no_area_from_hard_labels() -> None:
    """V: with labels alone there is no AUC, not even (TPR + TNR) / 2, and it is said what is missing."""
    source = labelled(["1"] * 20 + ["0"] * 30, {"a": ["1"] * 15 + ["0"] * 30 + ["1"] * 5})
    results = evaluate(source, positive="1")
    areas = [r for r in results.metrics if r.metric in {"roc_auc", "average_precision"}]
    assert all(r.value is None and r.reason for r in areas)
    said = (
        [r.reason or "" for r in areas] + [w.text for w in results.warnings] + [f.why for f in results.found]
    )
    assert any("score" in text or "probabilit" in text for text in said)


def test_v_labels_are_a_point_in_roc_space(tmp_path: Path) -> None:
    """V: beside a model with scores, one with labels alone has no curve; the report says that it is a point."""
    source = labelled(["1"] * 20 + ["0"] * 30, {"a": ["1"] * 15 + ["0"] * 5 + ["1"] * 3 + ["0"] * 27})
    scores = {"id": source["a"]["id"], "y_true": source["a"]["y_true"], "p_1": [0.6] * 25 + [0.3] * 25}
    results = evaluate(source | {"b": scores}, positive="1")
    assert {curve.model for curve in results.curves if curve.curve == "roc"} == {"b"}
    cells = {(c.true, c.predicted): c.count for c in results.confusion if c.model == "a"}
    assert (cells["0", "1"] / 30, cells["1", "1"] / 20) == (0.1, 0.75)
    assert re.search(r"\ba\b.{0,10}labels only.{0,40}point", spoken(results, tmp_path), re.DOTALL)


@pytest.mark.usefixtures("primary_alone")
@pytest.mark.parametrize(
    "gate, outcome",
    [("A.accuracy >= 0.5", "pass"), ("A.accuracy >= 0.99", "fail"), ("A.accuracy >= 0.85", "undecided"),
     ("A.accuracy - B.accuracy > 0", "undecided"), ("n >= 100", "pass"), ("n >= 101", "fail")],
)  # fmt: skip
def test_x_gates_have_three_outcomes(gate: str, outcome: str) -> None:
    """X: a gate that the interval straddles is undecided, neither passed nor failed."""
    results = evaluate(paired_counts(80, 6, 5, 9), gates=(gate,))
    assert [g.outcome for g in results.gates] == [outcome]


@pytest.mark.parametrize(
    "n, discordant, points", [(1000, 50, "2.0"), (1000, 100, "2.8"), (1000, 200, "4.0"), (100, 10, "8.8")]
)
def test_k_detectable_difference_of_accuracies(n: int, discordant: int, points: str) -> None:
    """K: beside an undecided pair stands the difference that 80 % of such test sets would have found.

    Connett, Smith and McHugh (1987): sqrt(n) d = z_.975 sqrt(p_d) + z_.8 sqrt(p_d - d^2), solved by hand
    for the share p_d of discordant examples, in percentage points to one decimal.
    """
    half = discordant // 2
    (verdict,) = evaluate(paired_counts(n - discordant - 10, half, half, 10)).verdicts
    found = re.search(r"reveals a difference of (0\.\d+) or more", str(verdict.text))
    assert found, verdict.text
    assert f"{100 * float(found.group(1)):.1f}" == points


@pytest.mark.parametrize("kind", ["accuracy", "rmse"])
def test_k_better_follows_the_metrics_direction(kind: str) -> None:
    """K: `better` is the larger accuracy and the smaller error; the difference stays a - b in the metric's units."""
    if kind == "accuracy":
        results = evaluate(paired_counts(300, 60, 5, 35))
    else:
        truth = [float(i % 17) for i in range(80)]
        ids = [f"{i:03d}" for i in range(80)]
        near = [t + 0.1 * (-1) ** i for i, t in enumerate(truth)]
        far = [t + (1 + i % 3) * (-1) ** i for i, t in enumerate(truth)]
        results = evaluate(
            {
                "A": {"id": ids, "y_true": truth, "y_pred": near},
                "B": {"id": ids, "y_true": truth, "y_pred": far},
            }
        )
    (verdict,) = results.verdicts
    assert (verdict.about, verdict.verdict) == (("A", "B"), "better")
    (row,) = (r for r in results.comparisons if r.recommended and r.metric == kind)
    assert row.difference is not None
    assert (row.difference > 0) == (kind == "accuracy")
    assert [r.model for r in results.ranking] == ["A", "B"]


@pytest.mark.parametrize("baseline, pairs", [(None, 3), ("a", 2)])
def test_az_one_family_has_one_number(baseline: str | None, pairs: int, tmp_path: Path) -> None:
    """AZ: pairs with a model that gives labels only are not tested on ROC AUC, and counted nowhere as tested."""
    source = noisy_scores(seed=4, models=("a", "b", "d"))
    truth = source["a"]["y_true"]
    source["c"] = {"id": source["a"]["id"], "y_true": truth, "y_pred": truth}
    results = evaluate(source, metrics=("roc_auc",), baseline=baseline)
    text = spoken(results, tmp_path) + " ".join(str(verdict.text) for verdict in results.verdicts)
    numbers = re.findall(r"over (?:all |the )?(\w+) pairs|(\w+) pairs are compared", text)
    assert len(numbers) > 5
    assert {word for found in numbers for word in found if word} == {str(pairs)}
    levels = [verdict.level for verdict in results.verdicts if verdict.low is not None]
    assert levels == [pytest.approx(1 - 0.05 / pairs)] * pairs
    untested = "three cannot be tested" if baseline is None else "one cannot be tested"
    assert untested in " ".join(text.split())
