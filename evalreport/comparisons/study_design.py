"""Answer the questions of ``evalreport plan`` by the planning formulas, and state their assumptions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Literal, get_args

from evalreport.comparisons import sample_size
from evalreport.comparisons.sample_size import (
    auc_half_width,
    detectable_accuracy_difference,
    mean_half_width,
    proportion_half_width,
)
from evalreport.comparisons.spending import with_looks
from evalreport.errors import UsageError
from evalreport.numbers import count, number
from evalreport.questions.looks.options import MOST_LOOKS
from evalreport.registry import unknown_name
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, say

Measure = Literal["accuracy", "mean", "auc"]
Layout = Literal["one", "paired", "independent", "folds"]
HalfWidth = Callable[[float], float]
"""Maps a number of examples to half the width of an interval."""

USUAL_PROPORTIONS = (0.5, 0.8, 0.9, 0.95)
USUAL_DISCORDANCE = (0.05, 0.1, 0.2)
USUAL_EXAMPLES = (100, 300, 1000, 3000, 10_000)
USUAL_REPEATS = (1, 5, 10, 100)
USUAL_ATTEMPTS = (1, 2, 4, 8, 16)
USUAL_GOLD = (50, 100, 200, 500, 1000)
POWERS_OF_LOOKS = (0.8, 0.9)
USUAL_JUDGED = 2000
"""Answers that a judge graded, unless stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """A judge: its correlation with people, the deviation of people's outcomes, its number of answers, and its name."""

    correlation: float
    sd: float
    n: int
    of: Message


@dataclass(frozen=True, slots=True)
class Lead:
    """The lead of a model over a rival on n examples, with its standard error."""

    model: str
    rival: str
    difference: float
    error: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What a plan asks and assumes; a number that is None is not stated.

    Attributes
    ----------
    measure, layout
        What is measured, and how models are compared.
    half_width, difference, examples
        The goal: half-width of an interval; difference to find; examples at hand.
    expected
        Expected accuracies or areas under the ROC curve, at most two.
    against
        The stated value that one model is compared with.
    discordance
        Share of examples on which exactly one of two models is right.
    sd
        Standard deviation of the values, of the per-example differences, or of fold differences; beside a judge that of
        people's outcomes (default: that of 0 and 1 with the ``expected`` share, else with one half).
    between, within, attempts
        The variance between questions, that between the attempts at one, and numbers of attempts, each of which is
        answered separately.
    prevalence
        Share of positive examples, for an area under the ROC curve.
    folds, repeats
        The cross-validation.
    alpha, power
        Two-sided level of one comparison, after correction for their number; wanted probability of finding the
        difference.
    judge_correlation
        Correlation of a judge's outcomes with people's.
    judges
        The figures of a run's judge, by model and pair.
    looks
        How many equally spaced looks there may be while examples are added (``run --looks``).
    choices
        The leads of the model that was chosen in a run over the others that may be best.
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
    between: float | None = None
    within: float | None = None
    attempts: tuple[int, ...] = ()
    prevalence: float = 0.5
    folds: int = 10
    repeats: int | None = None
    alpha: float = 0.05
    power: float = 0.8
    judge_correlation: float | None = None
    judges: tuple[JudgeFigures, ...] = ()
    looks: int | None = None
    choices: tuple[Lead, ...] = ()

    @property
    def of_attempts(self) -> bool:
        """Whether it is about a mean of questions with several attempts each."""
        return self.between is not None or self.within is not None or bool(self.attempts)

    @property
    def kind(self) -> Literal["proportion", "mean", "auc"]:
        """What is measured, by the formulas that hold for it."""
        if self.of_attempts or self.measure == "mean":
            return "mean"
        return "auc" if self.measure == "auc" else "proportion"

    @property
    def confidence(self) -> float:
        """Level of the intervals."""
        return 1 - self.alpha

    @property
    def unit(self) -> str:
        """What is counted."""
        return "questions" if self.of_attempts else "examples"

    @property
    def asks_otherwise(self) -> bool:
        """Whether a half-width is asked for, or what the examples at hand can show."""
        return self.half_width is not None or self.examples is not None


@dataclass(frozen=True, slots=True)
class Row:
    """One answer under one assumption; None: no number is enough."""

    setting: Message
    answer: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers to one question: ``unit`` of each is examples, repeats, discordant examples or a difference."""

    question: Message
    unit: str
    rows: tuple[Row, ...]
    formula: Message
    assumes: Message
    source: Message

    def __str__(self) -> str:
        """Write the answer as a plain table with its formula and assumptions below."""
        rows = [(_written(row.answer, self.unit), str(row.setting)) for row in self.rows]
        head = (self.unit, "if")
        width = max(len(cell) for cell, _ in [head, *rows])
        lines = [str(self.question), ""]
        lines += [f"  {cell:>{width}}  {setting}" for cell, setting in [head, *rows]]
        lines += ["", f"  formula: {self.formula}", f"  assumes: {self.assumes}", f"  source:  {self.source}"]
        return "\n".join(lines)


def _written(value: float | None, unit: str) -> str:
    if value is None:
        return "none"
    if unit in ("difference", "half-width"):
        return number(value, 4)
    return count(value)


SAME = 1e-9
"""Differences of proportions that differ by less are the same."""

RANGES: Mapping[str, tuple[float, float]] = {
    "half_width": (0, math.inf),
    "difference": (0, math.inf),
    "examples": (1, sample_size.MOST_EXAMPLES + 1),
    "against": (0, 1),
    "discordance": (0, math.nextafter(1, 2)),
    "sd": (0, math.inf),
    "between": (-math.ulp(0.0), math.inf),
    "within": (-math.ulp(0.0), math.inf),
    "judge_correlation": (-1, math.nextafter(1, 2)),
    "prevalence": (0, 1),
    "folds": (1, math.inf),
    "repeats": (0, math.inf),
    "alpha": (0, 1),
    "power": (0, 1),
}
"""The range of each number of a question, both ends excluded."""


def answers(plan: PlanOptions) -> tuple[Answer, ...]:
    """Answer a question; without one, return the differences that usual numbers of examples can show.

    Raises
    ------
    UsageError
        A number out of its range; an assumption is missing that the formula needs; the wanted difference is impossible.
    """
    _check_choices(plan)
    _check_ranges(plan)
    if len(plan.expected) > 2 or not all(0 <= value <= 1 for value in plan.expected):
        raise UsageError(f"expected must be at most two numbers in [0, 1], not {plan.expected}")
    if plan.measure == "accuracy":
        plan = replace(plan, difference=_difference_of(plan))
    if plan.of_attempts:
        _check_attempts(plan)
    judges = plan.judges
    if not judges and plan.judge_correlation is not None:
        judges = (_assumed_judge(plan, plan.judge_correlation),)
    if judges or plan.choices:
        confirmed = (_confirmed(plan),) if plan.choices else ()
        return (*(_with_judge(plan, judge) for judge in judges), *confirmed)
    _check_assumptions(plan)
    if plan.looks is not None:
        return (_with_looks(plan, plan.looks),)
    studies: list[Answer] = []
    if plan.half_width is not None:
        studies.append(_for_half_width(plan, plan.half_width))
    if plan.difference is not None:
        studies.append(_for_difference(plan, plan.difference))
    if plan.examples is not None:
        studies += _with_examples(plan, plan.examples)
    if not studies and (plan.layout == "folds" or plan.repeats is not None):
        studies.append(_over_folds(plan))
    if not studies:
        studies.append(_overview(plan))
    if plan.kind == "proportion" and plan.layout == "paired" and plan.half_width is None:
        studies.append(_discordant(plan.alpha))
    return tuple(studies)


def _check_choices(plan: PlanOptions) -> None:
    for name, value, choices in (
        ("measure", plan.measure, get_args(Measure)),
        ("layout", plan.layout, get_args(Layout)),
    ):
        if value not in choices:
            raise UsageError(unknown_name(name, value, choices))


def _check_ranges(plan: PlanOptions) -> None:
    for name, (least, most) in RANGES.items():
        value = getattr(plan, name)
        if value is not None and not least < value < most:
            raise UsageError(f"{name} must lie between {least:g} and {most:g}, not {value}")


def _difference_of(plan: PlanOptions) -> float | None:
    """Return the difference to find: of two expected values their own, whichever is given first.

    Raises
    ------
    UsageError
        Two values for one model, two that are equal or contradict the difference, or nothing asked of a layout.
    """
    expected, difference, layout = plan.expected, plan.difference, plan.layout
    if len(expected) == 2 and layout in ("paired", "independent"):
        between = abs(expected[0] - expected[1])
        if between < SAME:
            raise UsageError(f"--expected {expected[0]:g} twice: equal values leave nothing to find")
        if difference is not None and abs(difference - between) > SAME:
            raise UsageError(
                f"--difference {difference:g} contradicts --expected {expected[0]:g} --expected {expected[1]:g}, which"
                f" differ by {between:g}: leave it out, or one of these"
            )
        return difference if plan.asks_otherwise else between
    if plan.asks_otherwise:
        return difference
    if len(expected) == 2 and layout == "one":
        raise UsageError(
            "--expected is given once for --layout one, and the value to compare with by --against"
        )
    if difference is None and layout in ("one", "independent"):
        more = "--expected twice or --difference" if layout == "independent" else "--against and --difference"
        raise UsageError(f"--layout {layout}: state what is asked: {more}, --half-width, or -n")
    return difference


def _check_assumptions(plan: PlanOptions) -> None:
    """Refuse impossible differences of proportions or AUCs, and figures that the answer would not use."""
    if plan.power <= plan.alpha:
        raise UsageError(
            f"--power {plan.power:g}: a test at alpha {plan.alpha:g} (1 - confidence, over the pairs) finds that much"
            " by chance alone; state a greater power"
        )
    if plan.against is not None and plan.layout != "one":
        raise UsageError(
            f"--against {plan.against:g}: a value is what --layout one compares with: add it, or leave this out"
        )
    if plan.discordance is not None and not (plan.layout == "paired" and plan.kind == "proportion"):
        raise UsageError(
            f"--discordance {plan.discordance:g}: is about which of two models is right on the same examples (--layout"
            " paired, --measure accuracy): leave it out"
        )
    if plan.layout == "folds" or plan.kind == "mean":
        return
    name = "a proportion" if plan.kind == "proportion" else "an AUC"
    instead = "if it is about a mean loss, say --measure mean and its --sd"
    if plan.half_width is not None and plan.half_width >= 0.5:
        raise UsageError(
            f"--half-width {plan.half_width:g}: {name} lies in [0, 1], so that of its interval is below 0.5; {instead}"
        )
    if plan.kind == "proportion" and plan.difference is not None and plan.difference >= 1:
        raise UsageError(
            f"--difference {plan.difference:g}: a difference of two proportions lies between 0 and 1; {instead}"
        )
    if plan.sd is not None:
        raise UsageError(
            f"--sd {plan.sd:g}: the deviation of {name} follows from its expected value: leave it out; {instead}"
        )


def _check_attempts(plan: PlanOptions) -> None:
    """Refuse a plan of attempts that lacks a variance or a question, or states assumptions of other plans."""
    if plan.between is None or plan.within is None or plan.between + plan.within == 0:
        raise UsageError(
            "a plan of attempts needs both --between and --within, not both 0: the variance between questions and that"
            " between attempts at one, as attempt_variance in a results.json has them"
        )
    others = plan.expected or plan.sd is not None or plan.discordance is not None
    if others or plan.measure == "auc" or plan.layout != "paired":
        raise UsageError(
            "--between and --within say all that a plan of attempts assumes: leave out --sd, --expected, --discordance,"
            " --layout and --measure"
        )
    if any(number < 1 for number in plan.attempts):
        raise UsageError("--attempts must be 1 or more")
    if not plan.asks_otherwise and plan.difference is None:
        raise UsageError("say what is asked of these attempts: --half-width, --difference or -n questions")


def _spreads(plan: PlanOptions, key: str) -> list[tuple[Message, float]]:
    """Return the standard deviation as stated, or that of a question's mean over its attempts, by their number."""
    if plan.between is None or plan.within is None:
        sd = _required(plan.sd, "--sd", f"plan_needs.{key}")
        return [(Message(f"plan_if.{key}", sd=sd), sd)]
    spreads = []
    for attempts in plan.attempts or USUAL_ATTEMPTS:
        sd = math.sqrt(plan.between + plan.within / attempts)
        spreads.append((Message("plan_if.attempts", n=attempts, sd=sd), sd))
    return spreads


# --- half-width -----------------------------------------------------------------------------------------------------

WIDTHS = {"proportion": "wilson", "mean": "student", "auc": "hanley_mcneil"}
"""The methods of the intervals of one model's value."""


def _half_widths(plan: PlanOptions, of_auc: str) -> list[tuple[Message, HalfWidth]]:
    """Return the half-width of one model's interval as a function of n, in each setting.

    Parameters
    ----------
    of_auc
        The text of a setting of an AUC.
    """
    confidence, values = plan.confidence, plan.expected or USUAL_PROPORTIONS
    if plan.kind == "mean":
        spreads = _spreads(plan, "sd_of_values")
        return [(text, partial(mean_half_width, sd=sd, confidence=confidence)) for text, sd in spreads]
    if plan.kind == "auc":
        share = plan.prevalence
        return [
            (
                Message(of_auc, auc=auc, prevalence=share),
                partial(auc_half_width, auc=auc, prevalence=share, confidence=confidence),
            )
            for auc in values
        ]
    return [
        (
            Message("plan_if.value", value=p),
            partial(proportion_half_width, proportion=p, confidence=confidence),
        )
        for p in values
    ]


def _for_half_width(plan: PlanOptions, wanted: float) -> Answer:
    asked = Message(f"plan.half_width_of_{plan.kind}", level=plan.confidence, half_width=wanted)
    settings = _half_widths(plan, "plan_if.auc_and_prevalence")
    # Two of each class at least.
    least = math.ceil(2 / min(plan.prevalence, 1 - plan.prevalence)) if plan.kind == "auc" else 1
    rows = [Row(text, sample_size.examples_for(width, wanted, least)) for text, width in settings]
    return _answer(asked, plan.unit, rows, WIDTHS[plan.kind])


def _widths(plan: PlanOptions, n: int) -> Answer:
    """Return how wide the interval of one model's value is with n examples."""
    asked = Message("plan.half_width", level=plan.confidence, examples=n)
    rows = [Row(text, width(n)) for text, width in _half_widths(plan, "plan_if.auc")]
    return _answer(asked, "half-width", rows, WIDTHS[plan.kind])


# --- difference -----------------------------------------------------------------------------------------------------


def _for_difference(plan: PlanOptions, wanted: float) -> Answer:
    if plan.layout == "folds":
        return _repeats(plan, wanted)
    alpha, power = plan.alpha, plan.power
    if plan.kind == "auc":
        raise UsageError(
            "the difference of two AUCs depends on how the two models' scores go together, which no plan knows:"
            " run a pilot, whose report states the detectable difference; --half-width plans one AUC"
        )
    if plan.kind == "mean":
        return _for_means(plan, wanted)
    if plan.layout == "one":
        value = _required(plan.against, "--against", "plan_needs.value")
        expected = value + wanted if value + wanted <= 1 else value - wanted
        n = sample_size.examples_against_value(value, _proportion(expected), alpha, power)
        row = Row(Message("plan_if.against", expected=expected, value=value), n)
        asked = _tested(plan, "plan.difference_from_value", difference=wanted)
        return _answer(asked, "examples", [row], "one_sample")
    if plan.layout == "independent":
        pairs = [(a, _proportion(a - wanted)) for a in _first_values(plan, wanted)]
        if len(plan.expected) == 2:
            pairs = [(max(plan.expected), min(plan.expected))]
        rows = [
            Row(
                Message("plan_if.own_sets", a=a, b=b),
                sample_size.examples_for_independent_sets(a, b, alpha, power),
            )
            for a, b in pairs
        ]
        asked = _tested(plan, "plan.difference_of_independent_sets", difference=wanted)
        return _answer(asked, "examples in each set", rows, "independent")
    rows = [
        Row(text, sample_size.examples_for_paired_accuracies(wanted, share, alpha, power))
        for text, share in _discordances(plan, abs(wanted))
    ]
    return _answer(_tested(plan, "plan.difference_of_models", difference=wanted), "examples", rows, "paired")


def _with_looks(plan: PlanOptions, looks: int) -> Answer:
    """Return the most examples that so many looks take to find a difference, and how many are expected."""
    if plan.difference is None or plan.layout == "folds":
        raise UsageError(
            "--looks plans the examples that find a --difference: state it, and no cross-validation"
        )
    if not 2 <= looks <= MOST_LOOKS:
        raise UsageError(f"--looks must lie between 2 and {MOST_LOOKS}, not {looks}")
    rows, single = [], None
    for power in POWERS_OF_LOOKS:
        single = _for_difference(replace(plan, power=power), plan.difference)
        spent = with_looks(looks, plan.alpha, power)
        for row in single.rows:
            n = row.answer or 0.0
            sizes = {
                "expected": math.ceil(spent.mean * n),
                "equal": math.ceil(spent.mean_equal * n),
                "single": n,
            }
            setting = Message("plan_if.with_looks", of=row.setting, power=power, **sizes)
            rows.append(Row(setting, math.ceil(spent.inflation * n)))
    assert single is not None
    asked = Message("plan.looks", difference=plan.difference, looks=looks, alpha=plan.alpha)
    return _answer(asked, single.unit, rows, "looks")


def _for_means(plan: PlanOptions, wanted: float) -> Answer:
    spreads = _spreads(plan, "sd_of_differences")
    if plan.layout == "independent":
        raise UsageError("mean losses are planned for two models on the same examples: leave --layout out")
    rows = [
        Row(text, sample_size.examples_for_mean_difference(wanted, sd, plan.alpha, plan.power))
        for text, sd in spreads
    ]
    return _answer(_tested(plan, "plan.difference_of_means", difference=wanted), plan.unit, rows, "paired_t")


def _first_values(plan: PlanOptions, wanted: float) -> Sequence[float]:
    if plan.expected:
        return plan.expected[:1]
    return [p for p in USUAL_PROPORTIONS if p > wanted] or [(1 + wanted) / 2]


def _discordances(plan: PlanOptions, difference: float) -> Iterator[tuple[Message, float]]:
    """Yield possible shares of discordant examples: as stated, from expected accuracies, or usual ones."""
    if plan.discordance is not None:
        yield Message("plan_if.one_is_right", share=plan.discordance), plan.discordance
        return
    if plan.expected:
        first = plan.expected[0]
        second = plan.expected[1] if len(plan.expected) > 1 else _proportion(first - difference)
        least, independent, most = sample_size.discordance_of(first, second)
        for key, share in (
            ("plan_if.half_separate", (least + independent) / 2),
            ("plan_if.independent", independent),
            ("plan_if.separate", most),
        ):
            yield Message(key, a=first, b=second, share=share), share
        return
    shown = [share for share in USUAL_DISCORDANCE if share >= difference] or [difference]
    yield from ((Message("plan_if.one_is_right", share=share), share) for share in shown)


# --- examples at hand -----------------------------------------------------------------------------------------------


def _with_examples(plan: PlanOptions, n: int) -> Iterator[Answer]:
    asked = _tested(plan, "plan.smallest_difference_of_models", examples=n)
    if plan.kind == "mean":
        rows = [
            Row(text, sample_size.detectable_mean_difference(n, sd, plan.alpha, plan.power))
            for text, sd in _spreads(plan, "sd_of_differences")
        ]
        yield _answer(asked, "difference", rows, "paired_t")
    elif plan.kind == "proportion" and plan.layout == "paired":
        rows = [Row(text, _shown(plan, n, share)) for text, share in _discordances(plan, 0.0)]
        yield _answer(asked, "difference", rows, "paired")
    yield _widths(plan, n)


def _shown(plan: PlanOptions, n: int, discordant: float) -> float | None:
    """Return the difference that n examples show; None where it would exceed the share of discordant examples."""
    if discordant == 0:
        return None
    detectable = detectable_accuracy_difference(n, discordant, plan.alpha, plan.power)
    return detectable if detectable <= discordant else None


def _overview(plan: PlanOptions) -> Answer:
    rows = [
        Row(Message("plan_if.examples_and_one_is_right", examples=n, share=share), _shown(plan, n, share))
        for n in USUAL_EXAMPLES
        for share in USUAL_DISCORDANCE
    ]
    return _answer(_tested(plan, "plan.smallest_difference"), "difference", rows, "paired")


def _discordant(alpha: float) -> Answer:
    rows = [
        Row(Message("plan_if.midp"), sample_size.discordant_needed(alpha)),
        Row(Message("plan_if.exact"), sample_size.discordant_needed(alpha, exact=True)),
    ]
    return _answer(Message("plan.discordant", alpha=alpha), "discordant examples", rows, "discordant")


# --- a judge and a few people ---------------------------------------------------------------------------------------


def leads_of(results: JsonObject) -> tuple[Lead, ...]:
    """Read from a run's results the leads of the model that was chosen over the others that may be best.

    Attempts at questions have a plan of their own.
    """
    chosen = results.get("chosen")
    if not chosen or results.get("attempt_variance"):
        return ()
    leads = []
    for row in results.get("comparisons", ()):
        pair = {row["a"], row["b"]}
        spelled = f"{row['metric']}_{row['average']}" if row["average"] else row["metric"]
        if not row["recommended"] or row["slice"] is not None or row["label"] is not None:
            continue
        if spelled != chosen["metric"] or chosen["model"] not in pair or not pair <= {*chosen["models"]}:
            continue
        if row["difference"] and row["low"] is not None and row["high"] is not None:
            half = (row["high"] - row["low"]) / 2
            error = half / NormalDist().inv_cdf((1 + row["level"]) / 2)
            (rival,) = pair - {chosen["model"]}
            leads.append(Lead(chosen["model"], rival, abs(row["difference"]), error, results["n"]))
    return tuple(sorted(leads, key=lambda lead: (lead.difference, lead.rival)))


def _confirmed(plan: PlanOptions) -> Answer:
    """Return how many fresh examples would show that the chosen model is better, by the lead seen and by half of it."""
    leads = plan.choices
    alpha = plan.alpha / len(leads)
    z = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(plan.power)
    rows = [
        Row(
            Message(f"plan_if.{key}", rival=lead.rival, difference=lead.difference * share),
            math.ceil(lead.n * (z * lead.error / (lead.difference * share)) ** 2),
        )
        for lead in leads
        for key, share in (("lead_seen", 1.0), ("half_the_lead", 0.5))
    ]
    asked = _tested(replace(plan, alpha=alpha), "plan.confirm", model=leads[0].model)
    return _answer(asked, "fresh examples", rows, "confirm")


def judges_of(results: JsonObject, *, may_lack: bool) -> tuple[JudgeFigures, ...]:
    """Read the figures of a run's judge from its results.

    Parameters
    ----------
    may_lack
        Whether the results answer another question, so that none is returned where no judge is there.

    Raises
    ------
    UsageError
        Results without a judge that people checked.
    """
    figures = [
        JudgeFigures(
            correlation=record["correlation"],
            sd=record["sd"],
            n=record["n"],
            of=Message("plan.judge_of_model", model=record["a"])
            if record["b"] is None
            else Message("plan.judge_of_pair", a=record["a"], b=record["b"]),
        )
        for record in results.get("judge_estimates", ())
        if record.get("correlation") is not None
    ]
    if not figures and not may_lack:
        raise UsageError(
            "the results hold no judge that people checked, and no model that was chosen among several: run a pilot"
            f" with outcome and gold, or state --judge-correlation{_attempts_to_state(results)}"
        )
    return tuple(figures)


def _attempts_to_state(results: JsonObject) -> str:
    """Return the options that state the attempts of such results: the components of the last pair or model."""
    known = [one for one in results.get("attempt_variance", ()) if one.get("within") is not None]
    if not known:
        return ""
    one = known[-1]
    of = one["model"] if one["b"] is None else f"{one['model']} against {one['b']}"
    asked = f"--between {one['between']:.3g} --within {one['within']:.3g}"
    return f". Of their attempts ask with {asked} ({of}; attempt_variance has the others)"


def _assumed_judge(plan: PlanOptions, correlation: float) -> JudgeFigures:
    share = plan.expected[0] if plan.expected else 0.5
    sd = math.sqrt(share * (1 - share)) if plan.sd is None else plan.sd
    return JudgeFigures(correlation=correlation, sd=sd, n=USUAL_JUDGED, of=Message("plan.judge_given"))


def _with_judge(plan: PlanOptions, judge: JudgeFigures) -> Answer:
    """Return the half-width with usual numbers of human outcomes, beside that of people alone."""
    n, confidence = judge.n if plan.examples is None else plan.examples, plan.confidence
    rows = [
        Row(
            Message(
                "plan_if.gold",
                gold=gold,
                effective=round(sample_size.gold_effective(gold, n, judge.correlation)),
                alone=sample_size.judged_half_width(gold, n, judge.sd, 0.0, confidence),
            ),
            sample_size.judged_half_width(gold, n, judge.sd, judge.correlation, confidence),
        )
        for gold in (*(gold for gold in USUAL_GOLD if gold < n), n)
    ]
    asked = Message(
        "plan.judge", level=confidence, examples=n, of=judge.of, correlation=judge.correlation, sd=judge.sd
    )
    return _answer(asked, "half-width", rows, "judge")


# --- cross-validation -----------------------------------------------------------------------------------------------


def _repeats(plan: PlanOptions, wanted: float) -> Answer:
    folds = plan.folds
    sd = _required(plan.sd, "--sd", "plan_needs.sd_of_folds")
    repeats = sample_size.repeats_needed(wanted, folds, sd, plan.alpha, plan.power)
    text = Message(
        "plan_if.folds" if repeats is not None else "plan_if.folds_never_enough", folds=folds, sd=sd
    )
    return _answer(
        _tested(plan, "plan.repeats", difference=wanted), "repeats", [Row(text, repeats)], "corrected_t"
    )


def _over_folds(plan: PlanOptions) -> Answer:
    folds = plan.folds
    sd = _required(plan.sd, "--sd", "plan_needs.sd_of_folds")
    rows = [
        Row(
            Message("plan_if.repeated_folds", repeats=r, folds=folds, sd=sd),
            sample_size.detectable_over_folds(folds, r, sd, plan.alpha, plan.power),
        )
        for r in ([plan.repeats] if plan.repeats is not None else USUAL_REPEATS)
    ]
    return _answer(_tested(plan, "plan.smallest_difference_of_folds"), "difference", rows, "corrected_t")


# --- what every answer states ---------------------------------------------------------------------------------------


def _answer(question: Message, unit: str, rows: Sequence[Row], method: str) -> Answer:
    """State the formula, the assumptions and the source of a method beside its answers."""
    stated = (Message(f"plan_{what}.{method}") for what in ("formula", "assumes", "source"))
    return Answer(question, unit, tuple(rows), *stated)


def _tested(plan: PlanOptions, key: str, **params: object) -> Message:
    """Name a question about a test with the wanted power and level."""
    return Message(key, power=plan.power, alpha=plan.alpha, **params)


def _required(value: float | None, flag: str, meaning: str) -> float:
    if value is None:
        raise UsageError(f"this plan needs {flag}: {say(meaning)}")
    return value


def _proportion(value: float) -> float:
    if not 0 <= value <= 1:
        raise UsageError(
            f"a proportion of {value:g} is not between 0 and 1: state another --expected or --difference"
        )
    return value
