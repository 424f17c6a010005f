"""The section of calibration: its heading by one test, panels, the board, grades and parts."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evalreport
from evalreport.questions.calibration import section as calibration
from evalreport.questions.thresholds import decision_curves_section as decision_curves
from evalreport.report.view import view_of
from evalreport.schema.results import Results
from tests.samples.curves import evaluated, rows


def heading_of(results: Results) -> str:
    """Return the heading of the section."""
    section = calibration.describe(view_of(results))
    assert section is not None
    return section.heading.removeprefix("Calibration: ")


@pytest.mark.slow
def test_miscalibration_is_said_with_its_size_by_one_test():
    """Odds of 1.5 at 4 % prevalence are too high; probabilities drawn to one half are underconfident."""
    random = np.random.default_rng(4)
    p = random.beta(1, 24, size=4000)
    truth = (random.random(4000) < p).astype(int)
    models = {"high": rows(truth, p_1=1.5 * p / (1 + 0.5 * p)), "fair": rows(truth, p_1=p)}
    said = heading_of(evaluated(models, metrics=("log_loss",)))
    assert re.fullmatch(
        r"high is too high: .* predicted, .* observed \(observed ÷ predicted 0\.\d\d \[0\.\d\d, 0\.\d\d\]\)",
        said,
    )
    p = random.uniform(0.02, 0.98, size=800)
    truth = (random.random(800) < p).astype(int)
    models = {"flat": rows(truth, p_1=0.5 + (p - 0.5) / 3), "fair": rows(truth, p_1=p)}
    assert heading_of(evaluated(models, metrics=("log_loss",))).startswith("flat is underconfident: slope ")
    # A probability of 1 that did not happen cannot be right.
    models = {"fair": rows(truth, p_1=p), "sure": rows(truth, p_1=np.where(p > 0.9, 1.0, p))}
    said = heading_of(evaluated(models, metrics=("log_loss",)))
    assert re.fullmatch("sure gives probability 1 to .* events? that did not happen", said)
    said = heading_of(evaluated({"fair": models["fair"]}, metrics=("log_loss",)))
    assert said.startswith("No miscalibration shows: fair ")


def loans(**options: object) -> Results:
    """Return a run on 3,000 loans of four grades with a model whose odds are 1.6 times too high, and a fair one."""
    random = np.random.default_rng(7)
    p = random.beta(1, 15, size=3000)
    truth = (random.random(3000) < p).astype(int)
    rating = np.array(list("ABCD"))[np.digitize(p, [0.02, 0.05, 0.12])].tolist()
    given = {"id": [str(i) for i in range(3000)], "y_true": truth.tolist(), "rating": rating}
    models = {
        "high": given | {"p_1": (1.6 * p / (1 + 0.6 * p)).tolist()},
        "fair": given | {"p_1": p.tolist()},
    }
    return evalreport.evaluate(models, metrics="log_loss", resamples=50, **options)


@pytest.mark.slow
def test_grades_are_the_banks_own_or_deciles_of_risk():
    """--grade names the column; without it ten deciles, whose counts are equal where no probabilities are."""
    graded, plain = loans(grade="rating"), loans()
    own = [r for r in graded.calibration_table if r.model == "fair"]
    assert [r.grade for r in own] == ["A", "B", "C", "D"]
    assert sum(r.n for r in own) == 3000
    deciles = [r for r in plain.calibration_table if r.model == "fair"]
    assert [(r.grade, r.n) for r in deciles] == [(str(k), 300) for k in range(1, 11)]
    section = calibration.describe(view_of(graded))
    assert section.tables[1].title.startswith("By rating: ")
    assert len(section.tables) == 3
    assert "high predicts too high in " in " ".join(table.title for table in section.tables[1:])
    assert calibration.describe(view_of(plain)).tables[1:] == ()
    details = calibration.describe_details(view_of(plain))
    assert len(details.panels) == 2
    assert len(details.grades) == 1
    assert [row.model for row in section.tables[0].rows] == list(view_of(graded).models)


def test_no_event_is_no_sign_that_a_rate_is_too_low():
    """p-values of 0.0003 and 0.002 stood beside [0 %, 2.5 %], which held the rates of 1.6e-10 and 1.1e-8."""
    random = np.random.default_rng(1)
    p = 1 / (1 + np.exp(9 - 9 * random.normal(size=1000)))
    truth = (random.random(1000) < p).astype(int)
    table = evaluated({"net": rows(truth, p_1=p)}, metrics=("brier",)).calibration_table
    empty = [r for r in table if r.observed == 0]
    assert [calibration._two_sided(r) for r in empty[:4]] == [1.0] * 4
    for row in table:
        two_sided = calibration._two_sided(row)
        assert two_sided is not None
        assert (two_sided <= 0.05) == calibration._outside(row)


def test_every_model_has_a_row_in_the_order_of_the_board_with_its_curve_and_its_word():
    """The fair model leads: its row is first, whoever is off; observed over predicted is one factor everywhere."""
    results = loans()
    section = calibration.describe(view_of(results))
    fair, high = section.tables[0].rows
    assert [fair.model.name, high.model.name] == [m.name for m in view_of(results).models] == ["fair", "high"]
    assert (fair.cells[-1].value, high.cells[-1].value) == ("no deviation shown", "too high")
    assert fair.cells[0].band
    assert high.cells[0].beyond
    ratio = next(r.observed_expected for r in results.calibration if r.model == "high")
    assert high.cells[3].value == f"{ratio:.2f}"
    assert f"observed ÷ predicted {ratio:.2f} [" in section.heading


def test_one_model_has_its_figure_and_a_constant_one_no_empty_box():
    """A single curve is as large as other figures; of one probability the curve is a point and is not drawn."""
    random = np.random.default_rng(7)
    p = random.beta(2, 8, size=500)
    truth = (random.random(500) < p).astype(int)
    alone = calibration.describe(view_of(evaluated({"fair": rows(truth, p_1=p)}, metrics=("log_loss",))))
    assert len(alone.figures) == 1
    assert alone.tables[0].columns[0].kind == "number"
    half = evaluated({"half": rows(truth, p_1=np.full(500, 0.2))}, metrics=("log_loss",))
    assert calibration.describe(view_of(half)).figures == ()


def test_grades_that_follow_each_other_are_named_by_the_first_and_the_last():
    """Marked 1, 3, 4, 5 and 9 of ten."""
    table = [r for r in loans().calibration_table if r.model == "fair"]
    marked = {id(r) for r in table if r.grade in ("1", "3", "4", "5", "9")}
    assert calibration._spans(table, marked, deciles=False) == "1, 3 to 5 and 9"
    assert calibration._spans(table, marked, deciles=True) == "deciles 1, 3 to 5 and 9"
    one = {id(r) for r in table if r.grade == "9"}
    assert calibration._spans(table, one, deciles=True) == "decile 9"


def test_each_sentence_below_the_heading_begins_with_a_name():
    """Of a curve whose shape is off too, which once began small after a full stop."""
    random = np.random.default_rng(11)
    p = random.uniform(0.05, 0.95, size=1500)
    truth = (random.random(1500) < np.where(p > 0.5, 0.8, 0.2)).astype(int)
    high = np.clip(p + 0.2, 0.01, 0.99)
    results = evaluated({"step": rows(truth, p_1=p), "up": rows(truth, p_1=high)}, metrics=("log_loss",))
    section = calibration.describe(view_of(results))
    assert section is not None
    assert all(sentence[0].isupper() or sentence.startswith(("step", "up", "1,500"))
               for sentence in section.text.split(". "))  # fmt: skip
    details = calibration.describe_details(view_of(results))
    assert details is not None
    assert details.cut == "The deciles of the first model; those of both are in results.json."


@pytest.mark.slow
def test_decision_curves_describe_the_declared_range():
    """Nothing without a range; with one a row a threshold, treat all and treat none among the highest."""
    results = loans(thresholds="0.05:0.2:0.05")
    assert decision_curves.describe(view_of(loans())) is None
    section = decision_curves.describe(view_of(results))
    assert [row.label for row in section.tables[0].rows] == ["5 %", "10 %", "15 %", "20 %"]
    assert section.heading.startswith("Decision curves: ")
    assert len(section.figures) == 3
    thresholds = [r.threshold for r in results.decision_curves if r.model == "fair"]
    assert thresholds == [0.05, 0.1, 0.15, 0.2]
    for record in results.decision_curves:
        assert record.low <= record.net_benefit <= record.high
        assert (
            record.minus_all == (record.net_benefit - record.treat_all)
            or abs(record.minus_all - (record.net_benefit - record.treat_all)) < 1e-12
        )


def animals(k: int = 4, n: int = 3000, **options: object) -> Results:
    """Return a run on k classes: a calibrated model, one whose last class has odds near twice too high."""
    random = np.random.default_rng(5)
    p = random.dirichlet(np.linspace(6, 1, k), size=n)
    truth = [random.choice(k, p=row) for row in p]
    high = p.copy()
    high[:, -1] *= 1.9
    given = {"id": [str(i) for i in range(n)], "y_true": [f"c{code}" for code in truth]}
    models = {
        name: given
        | {f"p_c{code}": column.tolist() for code, column in enumerate((own / own.sum(1)[:, None]).T)}
        for name, own in (("fair", p), ("high", high))
    }
    return evalreport.evaluate(models, metrics="log_loss", resamples=50, **options)


@pytest.mark.slow
def test_several_classes_are_judged_class_by_class():
    """The heading names model and class; deciles of risk and parts are of the largest probability."""
    section = calibration.describe(view_of(animals()))
    assert section.heading.startswith("Calibration: high on “c3” is too high: ")
    assert "fair: no miscalibration shows" in section.text
    assert section.text.endswith("3,000 examples of four classes.")
    assert len(section.tables[0].rows) == 8
    assert section.tables[0].note.endswith("Holm over all 8 classes and models.")
    details = calibration.describe_details(view_of(animals()))
    assert [table.title.split(":")[0] for table in (*details.grades, details.parts)] == [
        "The largest probability, by its decile", "The largest probability",
    ]  # fmt: skip


def test_the_largest_factor_leads_whether_too_high_or_too_low():
    """Probabilities pushed apart: the rare class is too low by more than the frequent one is too high."""
    random = np.random.default_rng(5)
    p = random.dirichlet([8, 4, 1], size=3000)
    truth = [random.choice(3, p=row) for row in p]
    sharp = p**1.6 / (p**1.6).sum(axis=1)[:, None]
    model = {"id": [str(i) for i in range(3000)], "y_true": [f"c{code}" for code in truth]}
    model |= {f"p_c{code}": column.tolist() for code, column in enumerate(sharp.T)}
    results = evalreport.evaluate({"sharp": model}, metrics="log_loss", resamples=50)
    assert heading_of(results).startswith("sharp on “c2” is too low: ")


@pytest.mark.slow
def test_of_many_classes_the_most_doubtful_have_curves():
    """12 classes: three with a curve and its band, among them the one that is off; every class has its record."""
    results = animals(12)
    curves = {c.label for c in results.curves if c.curve == "corp" and c.model == "high"}
    assert len(curves) == 4
    assert {None, "c11"} <= curves
    records = [r for r in results.calibration if r.model == "high"]
    assert len(records) == 13
    assert sum(r.mcb_expected is not None for r in records) == 4


@pytest.mark.slow
def test_the_class_in_the_heading_has_a_curve():
    """The rare class is furthest off, but has few examples: the p-values of four frequent ones are smaller."""
    random = np.random.default_rng(5)
    p = random.dirichlet([9, 9, 9, 9, 1, 1, 1, 0.5], size=6000)
    truth = [random.choice(8, p=row) for row in p]
    off = p * np.array([1.3, 0.75, 1.3, 0.75, 1, 1, 1, 2.2])
    off /= off.sum(axis=1)[:, None]
    model = {"id": [str(i) for i in range(6000)], "y_true": [f"c{code}" for code in truth]}
    model |= {f"p_c{code}": column.tolist() for code, column in enumerate(off.T)}
    results = evalreport.evaluate({"off": model}, metrics="log_loss", resamples=50)
    p_values = {r.label: r.p_value for r in results.calibration if r.label is not None}
    assert set(sorted(p_values, key=p_values.get)[:4]) == {"c0", "c1", "c2", "c3"}
    section = calibration.describe(view_of(results))
    assert section.heading.startswith("Calibration: off on “c7” is too high: ")
    assert section.tables[0].rows[0].label == "off on “c7”"
    figures = calibration.describe_details(view_of(results)).figures
    assert figures[0].title.startswith("off on “c7”")
    assert len(figures) == 3
    with_curve = {c.label for c in results.curves if c.curve == "corp"}
    assert len(with_curve) == 5
    assert {None, "c7"} <= with_curve


@pytest.mark.slow
def test_none_of_several_classes_is_off():
    """A calibrated model alone: no class of four."""
    random = np.random.default_rng(9)
    p = random.dirichlet([3, 3, 2, 2], size=2000)
    truth = [random.choice(4, p=row) for row in p]
    model = {"id": [str(i) for i in range(2000)], "y_true": [f"c{code}" for code in truth]}
    model |= {f"p_c{code}": column.tolist() for code, column in enumerate(p.T)}
    said = heading_of(evalreport.evaluate({"fair": model}, metrics="log_loss", resamples=50))
    none = "No miscalibration shows on any of four classes; the smallest p is that of "
    assert said.startswith(none + "fair on “c")
