"""What ``evalreport plan`` answers: the planning formulas applied to a question, with their assumptions beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from evalreport.comparisons import sample_size
from evalreport.comparisons.sample_size import detectable_accuracy_difference
from evalreport.errors import UsageError
from evalreport.numbers import count, number
from evalreport.registry import unknown_name
from evalreport.schema.inputs import JsonObject
from evalreport.texts import Message, say

Measure = Literal["accuracy", "mean", "auc"]
Layout = Literal["one", "paired", "independent", "folds"]

USUAL_PROPORTIONS = (0.5, 0.8, 0.9, 0.95)
USUAL_DISCORDANCE = (0.05, 0.1, 0.2)
USUAL_EXAMPLES = (100, 300, 1000, 3000, 10_000)
USUAL_REPEATS = (1, 5, 10, 100)
USUAL_ATTEMPTS = (1, 2, 4, 8, 16)
USUAL_GOLD = (50, 100, 200, 500, 1000)
USUAL_JUDGED = 2000
"""Answers that a judge graded, where nothing else is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFigures:
    """What is known of a judge: its correlation with people, the sd of what people say, answers, whose figures."""

    correlation: float
    sd: float
    n: int
    of: Message


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
    between, within, attempts
        Instead of ``sd``, of a mean of questions with several attempts each: the variance between questions and that
        between the attempts at one; and how many attempts, each number answered by itself (default: usual ones).
    alpha
        Two-sided level of one comparison, after correction for their number.
    judge_correlation
        Of a judge's outcomes with people's; ``sd`` is then the deviation of what people say (default: that of 0 and 1
        with the ``expected`` share, else with one half).
    judges
        What a run found of its judge, by model and pair.
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


@dataclass(frozen=True, slots=True)
class Row:
    """One answer under one assumption; None: not to be had in this way."""

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
        lines += [
            "",
            f"  formula: {self.formula}",
            f"  assumes: {self.assumes}",
            f"  source:  {self.source}",
        ]
        return "\n".join(lines)


def _written(value: float | None, unit: str) -> str:
    if value is None:
        return "none"
    if unit in ("difference", "half-width"):
        return number(value, 4)
    return count(value)


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
"""What each number of a question lies between, both ends outside."""


def _check(question: Question) -> None:
    """Refuse what no formula can answer.

    Raises
    ------
    UsageError
        A number out of its range, an unknown measure or layout, or more than two expected values.
    """
    for name, choices in (("measure", get_args(Measure)), ("layout", get_args(Layout))):
        if getattr(question, name) not in choices:
            raise UsageError(unknown_name(name, getattr(question, name), choices))
    for name, (least, most) in RANGES.items():
        value = getattr(question, name)
        if value is not None and not least < value < most:
            raise UsageError(f"{name} must lie between {least:g} and {most:g}, not {value}")
    if len(question.expected) > 2 or not all(0 <= value <= 1 for value in question.expected):
        raise UsageError(f"expected must be at most two numbers in [0, 1], not {question.expected}")


def _check_proportions(q: Question) -> None:
    """Refuse what no proportion or AUC can differ by, and figures that an answer about them would leave unused.

    Raises
    ------
    UsageError
        With the option and the measure that it is about.
    """
    if q.power <= q.alpha:
        raise UsageError(
            f"--power {q.power:g}: a test at alpha {q.alpha:g} (1 - confidence, over the pairs) finds that much by"
            " chance alone; state a greater power"
        )
    if q.against is not None and q.layout != "one":
        raise UsageError(
            f"--against {q.against:g}: a value is what --layout one compares with: add it, or leave this out"
        )
    if q.discordance is not None and (q.layout, q.measure) != ("paired", "accuracy"):
        raise UsageError(
            f"--discordance {q.discordance:g}: is about which of two models is right on the same examples (--layout"
            " paired, --measure accuracy): leave it out"
        )
    if q.layout == "folds" or q.measure == "mean":
        return
    what = "a proportion" if q.measure == "accuracy" else "an AUC"
    instead = "if it is about a mean loss, say --measure mean and its --sd"
    if q.half_width is not None and q.half_width >= 0.5:
        raise UsageError(
            f"--half-width {q.half_width:g}: {what} lies in [0, 1], so that of its interval is below 0.5; {instead}"
        )
    if q.measure == "accuracy" and q.difference is not None and q.difference >= 1:
        raise UsageError(
            f"--difference {q.difference:g}: a difference of two proportions lies between 0 and 1; {instead}"
        )
    if q.sd is not None:
        raise UsageError(
            f"--sd {q.sd:g}: the deviation of {what} follows from its expected value: leave it out; {instead}"
        )


def answers(question: Question) -> tuple[Answer, ...]:
    """Answer what was asked; without a question, show what usual numbers of examples can and cannot show.

    Raises
    ------
    UsageError
        A number out of its range; an assumption is missing that the formula needs; the wanted difference is impossible.
    """
    _check(question)
    question = _of_attempts(question)
    judges = question.judges or _assumed_judge(question)
    if judges:
        return tuple(_with_judge(question, judge) for judge in judges)
    _check_proportions(question)
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


def _of_attempts(q: Question) -> Question:
    """Check what is said of attempts, which is about a mean.

    Raises
    ------
    UsageError
        Where one of the two variances is missing or both are 0, a standard deviation is given too, or something other
        than a mean on one test set is asked for.
    """
    if q.between is None and q.within is None and not q.attempts:
        return q
    if q.between is None or q.within is None or q.between + q.within == 0:
        raise UsageError(
            "a plan of attempts needs both --between and --within, not both 0: the variance between questions and that"
            " between attempts at one, as attempt_variance in a results.json has them"
        )
    if (
        q.sd is not None
        or q.expected
        or q.discordance is not None
        or q.measure == "auc"
        or q.layout != "paired"
    ):
        raise UsageError(
            "--between and --within say all that a plan of attempts assumes: leave out --sd, --expected, --discordance,"
            " --layout and --measure"
        )
    if any(attempts < 1 for attempts in q.attempts):
        raise UsageError("--attempts must be 1 or more")
    if q.half_width is None and q.difference is None and q.examples is None:
        raise UsageError("say what is asked of these attempts: --half-width, --difference or -n questions")
    return replace(q, measure="mean")


def _spreads(q: Question, key: str) -> list[tuple[Message, float]]:
    """Return what may be assumed of a standard deviation: as given, or of a question's mean over its attempts."""
    if q.between is None or q.within is None:
        sd = _required(q.sd, "--sd", f"plan_needs.{key}")
        return [(Message(f"plan_if.{key}", sd=sd), sd)]
    found = []
    for attempts in q.attempts or USUAL_ATTEMPTS:
        sd = math.sqrt(q.between + q.within / attempts)
        found.append((Message("plan_if.attempts", n=attempts, sd=sd), sd))
    return found


def _units(q: Question) -> str:
    return "examples" if q.between is None else "questions"


# --- half-width -----------------------------------------------------------------------------------------------------


def _for_half_width(q: Question, wanted: float) -> Answer:
    confidence = 1 - q.alpha

    def question(key: str) -> Message:
        return Message(key, level=confidence, half_width=wanted)

    if q.measure == "mean":
        rows = [
            Row(text, sample_size.examples_for_mean(wanted, sd, confidence))
            for text, sd in _spreads(q, "sd_of_values")
        ]
        return _answer(question("plan.half_width_of_mean"), _units(q), rows, "student")
    values = q.expected or USUAL_PROPORTIONS
    if q.measure == "auc":
        rows = [
            Row(
                Message("plan_if.auc_and_prevalence", auc=a, prevalence=q.prevalence),
                sample_size.examples_for_auc(wanted, a, q.prevalence, confidence),
            )
            for a in values
        ]
        return _answer(question("plan.half_width_of_auc"), "examples", rows, "hanley_mcneil")
    rows = [
        Row(Message("plan_if.value", value=p), sample_size.examples_for_proportion(wanted, p, confidence))
        for p in values
    ]
    return _answer(question("plan.half_width_of_proportion"), "examples", rows, "wilson")


# --- difference -----------------------------------------------------------------------------------------------------


def _for_difference(q: Question, wanted: float) -> Answer:
    if q.layout == "folds":
        return _repeats(q, wanted)
    if q.measure == "auc":
        raise UsageError(
            "the difference of two AUCs depends on how the two models' scores go together, which no plan knows:"
            " run a pilot, whose report states the detectable difference; --half-width plans one AUC"
        )
    if q.measure == "mean":
        return _for_means(q, wanted)
    if q.layout == "one":
        value = _required(q.against, "--against", "plan_needs.value")
        expected = value + wanted if value + wanted <= 1 else value - wanted
        n = sample_size.examples_against_value(value, _proportion(expected), q.alpha, q.power)
        row = Row(Message("plan_if.against", expected=expected, value=value), n)
        asked = _tested(q, "plan.difference_from_value", difference=wanted)
        return _answer(asked, "examples", [row], "one_sample")
    if q.layout == "independent":
        pairs = [(a, _proportion(a - wanted)) for a in _first_values(q, wanted)]
        rows = [
            Row(
                Message("plan_if.own_sets", a=a, b=b),
                sample_size.examples_for_independent_sets(a, b, q.alpha, q.power),
            )
            for a, b in pairs
        ]
        asked = _tested(q, "plan.difference_of_independent_sets", difference=wanted)
        return _answer(asked, "examples in each set", rows, "independent")
    rows = [
        Row(text, sample_size.examples_for_paired_accuracies(wanted, share, q.alpha, q.power))
        for text, share in _discordances(q, abs(wanted))
    ]
    return _answer(_tested(q, "plan.difference_of_models", difference=wanted), "examples", rows, "paired")


def _for_means(q: Question, wanted: float) -> Answer:
    spreads = _spreads(q, "sd_of_differences")
    if q.layout == "independent":
        raise UsageError("mean losses are planned for two models on the same examples: leave --layout out")
    rows = [
        Row(text, sample_size.examples_for_mean_difference(wanted, sd, q.alpha, q.power))
        for text, sd in spreads
    ]
    return _answer(_tested(q, "plan.difference_of_means", difference=wanted), _units(q), rows, "paired_t")


def _first_values(q: Question, wanted: float) -> Sequence[float]:
    if q.expected:
        return q.expected[:1]
    return [p for p in USUAL_PROPORTIONS if p > wanted] or [(1 + wanted) / 2]


def _discordances(q: Question, difference: float) -> Iterator[tuple[Message, float]]:
    """Yield what may be assumed of the share of discordant examples: as given, from accuracies, or usual."""
    if q.discordance is not None:
        yield Message("plan_if.one_is_right", share=q.discordance), q.discordance
        return
    if q.expected:
        first = q.expected[0]
        second = q.expected[1] if len(q.expected) > 1 else _proportion(first - difference)
        shares = sample_size.discordance_of(first, second)
        half = (shares.least + shares.independent) / 2
        for key, share in (
            ("plan_if.half_separate", half),
            ("plan_if.independent", shares.independent),
            ("plan_if.separate", shares.most),
        ):
            yield Message(key, a=first, b=second, share=share), share
        return
    shown = [share for share in USUAL_DISCORDANCE if share >= difference] or [difference]
    yield from ((Message("plan_if.one_is_right", share=share), share) for share in shown)


# --- examples at hand -----------------------------------------------------------------------------------------------


def _with_examples(q: Question, n: int) -> Iterator[Answer]:
    asked = _tested(q, "plan.smallest_difference_of_models", examples=n)
    if q.measure == "mean":
        rows = [
            Row(text, sample_size.detectable_mean_difference(n, sd, q.alpha, q.power))
            for text, sd in _spreads(q, "sd_of_differences")
        ]
        yield _answer(asked, "difference", rows, "paired_t")
    elif q.measure == "accuracy" and q.layout == "paired":
        rows = [Row(text, _shown(q, n, share)) for text, share in _discordances(q, 0.0)]
        yield _answer(asked, "difference", rows, "paired")
    yield _widths(q, n)


def _widths(q: Question, n: int) -> Answer:
    """Return how wide the interval of one model's value is with n examples."""
    confidence = 1 - q.alpha
    asked = Message("plan.half_width", level=confidence, examples=n)
    values = q.expected or USUAL_PROPORTIONS
    if q.measure == "mean":
        rows = [
            Row(text, sample_size.mean_half_width(n, sd, confidence))
            for text, sd in _spreads(q, "sd_of_values")
        ]
        return _answer(asked, "half-width", rows, "student")
    if q.measure == "auc":
        rows = [
            Row(Message("plan_if.auc", auc=a), sample_size.auc_half_width(n, a, q.prevalence, confidence))
            for a in values
        ]
        return _answer(asked, "half-width", rows, "hanley_mcneil")
    rows = [
        Row(Message("plan_if.value", value=p), sample_size.proportion_half_width(n, p, confidence))
        for p in values
    ]
    return _answer(asked, "half-width", rows, "wilson")


def _shown(q: Question, n: int, discordant: float) -> float | None:
    """Return the difference that n examples show; None where it would exceed the share of discordant examples."""
    if discordant == 0:
        return None
    found = detectable_accuracy_difference(n, discordant, q.alpha, q.power)
    return found if found <= discordant else None


def _overview(q: Question) -> Answer:
    rows = [
        Row(Message("plan_if.examples_and_one_is_right", examples=n, share=share), _shown(q, n, share))
        for n in USUAL_EXAMPLES
        for share in USUAL_DISCORDANCE
    ]
    return _answer(_tested(q, "plan.smallest_difference"), "difference", rows, "paired")


def _discordant(q: Question) -> Answer:
    rows = [
        Row(Message("plan_if.midp"), sample_size.discordant_needed(q.alpha)),
        Row(Message("plan_if.exact"), sample_size.discordant_needed(q.alpha, exact=True)),
    ]
    return _answer(Message("plan.discordant", alpha=q.alpha), "discordant examples", rows, "discordant")


# --- a judge and a few people ---------------------------------------------------------------------------------------


def judges_of(results: JsonObject) -> tuple[JudgeFigures, ...]:
    """Read from results what a run found of its judge.

    Raises
    ------
    UsageError
        Results without a judge that people checked.
    """
    found = [
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
    if not found:
        raise UsageError(
            "the results hold no judge that people checked: run a pilot with outcome and gold, or state"
            f" --judge-correlation{_asked_of_attempts(results)}"
        )
    return tuple(found)


def _asked_of_attempts(results: JsonObject) -> str:
    """Say what to state of results with several attempts at a question: the components of the last pair or model."""
    known = [one for one in results.get("attempt_variance", ()) if one.get("within") is not None]
    if not known:
        return ""
    one = known[-1]
    of = one["model"] if one["b"] is None else f"{one['model']} against {one['b']}"
    asked = f"--between {one['between']:.3g} --within {one['within']:.3g}"
    return f". Of their attempts ask with {asked} ({of}; attempt_variance has the others)"


def _assumed_judge(q: Question) -> tuple[JudgeFigures, ...]:
    if q.judge_correlation is None:
        return ()
    share = q.expected[0] if q.expected else 0.5
    sd = math.sqrt(share * (1 - share)) if q.sd is None else q.sd
    return (
        JudgeFigures(correlation=q.judge_correlation, sd=sd, n=USUAL_JUDGED, of=Message("plan.judge_given")),
    )


def _with_judge(q: Question, judge: JudgeFigures) -> Answer:
    """Say how wide the interval is with usual numbers of human outcomes, and how many people alone would take."""
    n = judge.n if q.examples is None else q.examples
    rows = [
        Row(
            Message(
                "plan_if.gold",
                gold=gold,
                effective=round(sample_size.gold_effective(gold, n, judge.correlation)),
                alone=sample_size.judged_half_width(gold, n, judge.sd, 0.0, 1 - q.alpha),
            ),
            sample_size.judged_half_width(gold, n, judge.sd, judge.correlation, 1 - q.alpha),
        )
        for gold in (*(gold for gold in USUAL_GOLD if gold < n), n)
    ]
    asked = Message(
        "plan.judge", level=1 - q.alpha, examples=n, of=judge.of, correlation=judge.correlation, sd=judge.sd
    )
    return _answer(asked, "half-width", rows, "judge")


# --- cross-validation -----------------------------------------------------------------------------------------------


def _repeats(q: Question, wanted: float) -> Answer:
    sd = _required(q.sd, "--sd", "plan_needs.sd_of_folds")
    found = sample_size.repeats_needed(wanted, q.folds, sd, q.alpha, q.power)
    text = Message(
        "plan_if.folds" if found is not None else "plan_if.folds_never_enough", folds=q.folds, sd=sd
    )
    return _answer(
        _tested(q, "plan.repeats", difference=wanted), "repeats", [Row(text, found)], "corrected_t"
    )


def _over_folds(q: Question) -> Answer:
    sd = _required(q.sd, "--sd", "plan_needs.sd_of_folds")
    rows = [
        Row(
            Message("plan_if.repeated_folds", repeats=r, folds=q.folds, sd=sd),
            sample_size.detectable_over_folds(sample_size.Folds(q.folds, r), sd, q.alpha, q.power),
        )
        for r in ([q.repeats] if q.repeats is not None else USUAL_REPEATS)
    ]
    return _answer(_tested(q, "plan.smallest_difference_of_folds"), "difference", rows, "corrected_t")


# --- what every answer states ---------------------------------------------------------------------------------------


def _answer(question: Message, unit: str, rows: Sequence[Row], method: str) -> Answer:
    """State the formula, the assumptions and the source of a method beside its answers."""
    stated = (Message(f"plan_{what}.{method}") for what in ("formula", "assumes", "source"))
    return Answer(question, unit, tuple(rows), *stated)


def _tested(q: Question, key: str, **params: object) -> Message:
    """Name a question about a test, whose power and level are given."""
    return Message(key, power=q.power, alpha=q.alpha, **params)


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
