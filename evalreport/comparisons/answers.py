"""What ``evalreport plan`` answers: the planning formulas applied to a question, with their assumptions beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalreport.comparisons import planning
from evalreport.comparisons.power import detectable_accuracy_difference
from evalreport.errors import UsageError

Measure = Literal["accuracy", "mean", "auc"]
Layout = Literal["one", "paired", "independent", "folds"]

USUAL_PROPORTIONS = (0.5, 0.8, 0.9, 0.95)
USUAL_DISCORDANCE = (0.05, 0.1, 0.2)
USUAL_EXAMPLES = (100, 300, 1000, 3000, 10_000)
USUAL_REPEATS = (1, 5, 10, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked, and what may be assumed.

    Attributes
    ----------
    half_width, difference, examples
        Wanted half-width of an interval; wanted difference; examples at hand. None: not asked.
    expected
        Expected accuracies or AUCs, at most two.
    against
        The stated value that one model is compared with.
    discordance
        Share of examples on which exactly one of two models is right.
    sd
        Standard deviation: of the values, of the per-example differences, or of the fold differences.
    alpha
        Two-sided level of one comparison, after correction for their number.
    """

    measure: Measure = "accuracy"
    layout: Layout = "paired"
    half_width: float | None = None
    difference: float | None = None
    examples: int | None = None
    expected: tuple[float, ...] = ()
    against: float | None = None
    discordance: float | None = None
    sd: float | None = None
    prevalence: float = 0.5
    folds: int = 10
    repeats: int | None = None
    alpha: float = 0.05
    power: float = 0.8


@dataclass(frozen=True, slots=True)
class Row:
    """One answer under one assumption; None: not to be had in this way."""

    setting: str
    answer: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers to one question: ``unit`` of each is examples, repeats, discordant examples or a difference."""

    question: str
    unit: str
    rows: tuple[Row, ...]
    formula: str
    assumes: str
    source: str


def answers(question: Question) -> tuple[Answer, ...]:
    """Answer what was asked; without a question, show what usual numbers of examples can and cannot show.

    Raises
    ------
    UsageError
        Where an assumption is missing that the formula needs, or the wanted difference is impossible.
    """
    found: list[Answer] = []
    if question.half_width is not None:
        found.append(_for_half_width(question, question.half_width))
    if question.difference is not None:
        found.append(_for_difference(question, question.difference))
    if question.examples is not None:
        found += _with_examples(question, question.examples)
    if not found and (question.layout == "folds" or question.repeats is not None):
        found.append(_over_folds(question))
    if not found:
        found.append(_overview(question))
    if question.measure == "accuracy" and question.layout == "paired" and question.half_width is None:
        found.append(_discordant(question))
    return tuple(found)


# --- half-width -----------------------------------------------------------------------------------------------------


def _for_half_width(q: Question, wanted: float) -> Answer:
    confidence = 1 - q.alpha
    said = f"Examples for a {_percent(confidence)} interval of ±{wanted:g}"
    if q.measure == "mean":
        sd = _required(q.sd, "--sd", "the standard deviation of the values")
        rows = [Row(f"standard deviation {sd:g}", planning.examples_for_mean(wanted, sd, confidence))]
        return Answer(f"{said} around a mean", "examples", tuple(rows), *STUDENT)
    if q.measure == "auc":
        rows = [
            Row(f"AUC {a:g}, {_percent(q.prevalence)} positive",
                planning.examples_for_auc(wanted, a, q.prevalence, confidence))
            for a in q.expected or USUAL_PROPORTIONS
        ]  # fmt: skip
        return Answer(f"{said} around an AUC", "examples", tuple(rows), *HANLEY_MCNEIL)
    rows = [
        Row(f"value {p:g}", planning.examples_for_proportion(wanted, p, confidence))
        for p in q.expected or USUAL_PROPORTIONS
    ]
    return Answer(f"{said} around a proportion", "examples", tuple(rows), *WILSON)


# --- difference -----------------------------------------------------------------------------------------------------


def _for_difference(q: Question, wanted: float) -> Answer:
    if q.layout == "folds":
        return _repeats(q, wanted)
    if q.measure == "auc":
        raise UsageError(
            "the difference of two AUCs depends on how the two models' scores go together, which no plan knows:"
            " run a pilot, whose report states the detectable difference; --half-width plans one AUC"
        )
    said = f"Examples to find a difference of {wanted:g} with power {q.power:g} (two-sided α = {q.alpha:.4g})"
    if q.measure == "mean":
        return _for_means(q, wanted, said)
    if q.layout == "one":
        value = _required(q.against, "--against", "the value that the model is compared with")
        expected = value + wanted if value + wanted <= 1 else value - wanted
        n = planning.examples_against_value(value, _proportion(expected), q.alpha, q.power)
        row = Row(f"true value {expected:g} against {value:g}", n)
        return Answer(f"{said}: one model against a value", "examples", (row,), *ONE_SAMPLE)
    if q.layout == "independent":
        pairs = [(a, _proportion(a - wanted)) for a in _first_values(q, wanted)]
        rows = tuple(
            Row(
                f"{a:g} and {b:.4g}, each model its own set",
                planning.examples_for_independent_sets(a, b, q.alpha, q.power),
            )
            for a, b in pairs
        )
        return Answer(f"{said}: independent test sets", "examples in each set", rows, *INDEPENDENT)
    rows = tuple(
        Row(text, planning.examples_for_paired_accuracies(wanted, share, q.alpha, q.power))
        for text, share in _discordances(q, abs(wanted))
    )
    return Answer(f"{said}: two models on the same examples", "examples", rows, *PAIRED)


def _for_means(q: Question, wanted: float, said: str) -> Answer:
    sd = _required(q.sd, "--sd", "the standard deviation of the per-example differences of the losses")
    if q.layout == "independent":
        raise UsageError("mean losses are planned for two models on the same examples: leave --layout out")
    n = planning.examples_for_mean_difference(wanted, sd, q.alpha, q.power)
    rows = (Row(_of_differences(sd), n),)
    return Answer(f"{said}: mean losses on the same examples", "examples", rows, *PAIRED_T)


def _first_values(q: Question, wanted: float) -> Sequence[float]:
    if q.expected:
        return q.expected[:1]
    return [p for p in USUAL_PROPORTIONS if p > wanted]


def _discordances(q: Question, difference: float) -> Iterator[tuple[str, float]]:
    """Yield what may be assumed of the share of discordant examples: as given, from accuracies, or usual."""
    if q.discordance is not None:
        yield f"exactly one is right on {_percent(q.discordance)}", q.discordance
        return
    if q.expected:
        first = q.expected[0]
        second = q.expected[1] if len(q.expected) > 1 else _proportion(first - difference)
        shares = planning.discordance_of(first, second)
        half = (shares.least + shares.independent) / 2
        for text, share in (
            ("errors half as separate as independent ones", half),
            ("errors independent", shares.independent),
            ("errors as separate as can be (worst case)", shares.most),
        ):
            yield f"{first:g} and {second:.4g}, {text}: {_percent(share)}", share
        return
    shown = [share for share in USUAL_DISCORDANCE if share >= difference] or [difference]
    yield from ((f"exactly one is right on {_percent(share)}", share) for share in shown)


# --- examples at hand -----------------------------------------------------------------------------------------------


def _with_examples(q: Question, n: int) -> Iterator[Answer]:
    said = (
        f"Smallest difference that {n:,} examples show with power {q.power:g} (two-sided α = {q.alpha:.4g})"
    )
    said += ": two models on the same examples"
    if q.measure == "mean":
        sd = _required(q.sd, "--sd", "the standard deviation of the per-example differences of the losses")
        row = Row(_of_differences(sd), planning.detectable_mean_difference(n, sd, q.alpha, q.power))
        yield Answer(said, "difference", (row,), *PAIRED_T)
    elif q.measure == "accuracy" and q.layout == "paired":
        shares = _discordances(q, 0.0)
        yield Answer(said, "difference", tuple(Row(text, _shown(q, n, p)) for text, p in shares), *PAIRED)
    yield _widths(q, n)


def _widths(q: Question, n: int) -> Answer:
    """Return how wide the interval of one model's value is with n examples."""
    confidence = 1 - q.alpha
    said = f"Half-width of the {_percent(confidence)} interval with {n:,} examples"
    values = q.expected or USUAL_PROPORTIONS
    if q.measure == "mean":
        sd = _required(q.sd, "--sd", "the standard deviation of the values")
        row = Row(f"standard deviation of the values {sd:g}", planning.mean_half_width(n, sd, confidence))
        return Answer(said, "half-width", (row,), *STUDENT)
    if q.measure == "auc":
        rows = [Row(f"AUC {a:g}", planning.auc_half_width(n, a, q.prevalence, confidence)) for a in values]
        return Answer(said, "half-width", tuple(rows), *HANLEY_MCNEIL)
    rows = [Row(f"value {p:g}", planning.proportion_half_width(n, p, confidence)) for p in values]
    return Answer(said, "half-width", tuple(rows), *WILSON)


def _shown(q: Question, n: int, discordant: float) -> float | None:
    """Return the difference that n examples show; None where it would exceed the share of discordant examples."""
    if discordant == 0:
        return None
    found = detectable_accuracy_difference(n, discordant, q.alpha, q.power)
    return found if found <= discordant else None


def _overview(q: Question) -> Answer:
    rows = tuple(
        Row(f"{n:,} examples, exactly one is right on {_percent(share)}",
            _shown(q, n, share))
        for n in USUAL_EXAMPLES
        for share in USUAL_DISCORDANCE
    )  # fmt: skip
    said = f"Smallest difference of two accuracies that is found with power {q.power:g} (two-sided α = {q.alpha:.4g})"
    return Answer(said, "difference", rows, *PAIRED)


def _discordant(q: Question) -> Answer:
    rows = (
        Row("mid-p test", planning.discordant_needed(q.alpha)),
        Row("exact test", planning.discordant_needed(q.alpha, exact=True)),
    )
    said = f"Discordant examples without which p ≤ {q.alpha:.4g} cannot be reached, all of them on one side"
    return Answer(said, "discordant examples", rows, *DISCORDANT)


# --- cross-validation -----------------------------------------------------------------------------------------------


def _repeats(q: Question, wanted: float) -> Answer:
    sd = _required(q.sd, "--sd", "the standard deviation of the fold differences, from a pilot")
    found = planning.repeats_needed(wanted, q.folds, sd, q.alpha, q.power)
    text = f"{q.folds} folds, standard deviation of the fold differences {sd:g}"
    if found is None:
        text += "; no number of repeats is enough: the shared training data set the limit, get more examples"
    said = f"Repeats of cross-validation to find a difference of {wanted:g} with power {q.power:g}"
    return Answer(f"{said} (two-sided α = {q.alpha:.4g})", "repeats", (Row(text, found),), *CORRECTED_T)


def _over_folds(q: Question) -> Answer:
    sd = _required(q.sd, "--sd", "the standard deviation of the fold differences, from a pilot")
    rows = tuple(
        Row(f"{r} × {q.folds} folds, standard deviation of the fold differences {sd:g}",
            planning.detectable_over_folds(planning.Folds(q.folds, r), sd, q.alpha, q.power))
        for r in ([q.repeats] if q.repeats is not None else USUAL_REPEATS)
    )  # fmt: skip
    said = f"Smallest difference that cross-validation shows with power {q.power:g} (two-sided α = {q.alpha:.4g})"
    return Answer(said, "difference", rows, *CORRECTED_T)


# --- what the formulas are ------------------------------------------------------------------------------------------

How = tuple[str, str, str]
"""Formula, assumptions, source."""

WILSON: How = (
    "z √(p(1 − p)/n + z²/4n²) / (1 + z²/n) ≤ half-width",
    "independent examples; the value comes out as expected",
    "Wilson (1927)",
)
STUDENT: How = (
    "t(n − 1) · sd / √n ≤ half-width",
    "independent examples, a nearly normal mean",
    "Student (1908)",
)
HANLEY_MCNEIL: How = (
    "z √(A(1 − A)(1 + N*(1 − A)/(2 − A) + N*A/(1 + A)) / PN) ≤ half-width, N* = (P + N)/2 − 1",
    "independent examples, exponential scores, the value comes out as expected",
    "Hanley and McNeil (1982); Newcombe (2006), Stat Med 25:559",
)
ONE_SAMPLE: How = (
    "n = ((z_α √(p₀(1 − p₀)) + z_β √(p₁(1 − p₁))) / (p₁ − p₀))²",
    "independent examples; normal approximation",
    "Fleiss, Levin and Paik (2003), chapter 2",
)
PAIRED: How = (
    "√n · d = z_α √p_d + z_β √(p_d − d²)",
    "independent examples, both models on the same ones; p_d: share on which exactly one is right",
    "Connett, Smith and McHugh (1987), Stat Med 6:449",
)
PAIRED_T: How = (
    "power of the noncentral t with n − 1 degrees of freedom at d √n / sd",
    "independent examples, both models on the same ones; a nearly normal mean difference",
    "Cohen (1988), chapter 2",
)
INDEPENDENT: How = (
    "n = (z_α √(2 p̄(1 − p̄)) + z_β √(p₁(1 − p₁) + p₂(1 − p₂)))² / (p₁ − p₂)²",
    "independent examples, another set of the same size for each model",
    "Fleiss, Levin and Paik (2003), chapter 4; statsmodels",
)
CORRECTED_T: How = (
    "d = δ · sd · √(1/J + 1/(k − 1)), δ the noncentrality of t with J − 1 degrees of freedom, J = repeats × k",
    "Nadeau and Bengio's correlation between folds; the measured type I error stands in the report",
    "Nadeau and Bengio (2003), Mach Learn 52:239",
)
DISCORDANT: How = (
    "2 · ½^m (exact), ½^m (mid-p)",
    "McNemar's test; fewer never reach it, however good the better model is",
    "Fagerland, Lydersen and Laake (2013)",
)


def _required(value: float | None, flag: str, meaning: str) -> float:
    if value is None:
        raise UsageError(f"this plan needs {flag}: {meaning}")
    return value


def _proportion(value: float) -> float:
    if not 0 <= value <= 1:
        raise UsageError(
            f"a proportion of {value:g} is not between 0 and 1: state another --expected or --difference"
        )
    return value


def _of_differences(sd: float) -> str:
    return f"standard deviation of the differences {sd:g}"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.4g} %"
