"""Results as the rules of the headline read them: models in order, pairs seen from the better side, changes since."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from evalreport import numbers
from evalreport.engine.distributions import levelled
from evalreport.gates.conditions import BEST
from evalreport.metrics.metric import Metric
from evalreport.metrics.registry import METRICS, OF_THE_POSITIVE, Quantity
from evalreport.questions.baselines.records import AgainstRuleRecord
from evalreport.questions.slices.records import DisparityRecord
from evalreport.schema import lookups
from evalreport.schema.audit import AuditRecord, HistoryRecord
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.decisions import CUT, VerdictRecord
from evalreport.schema.metrics import MEANS_OF_A_COLUMN, MetricRecord
from evalreport.schema.pairs import seen_from
from evalreport.schema.results import Results
from evalreport.texts import Message
from evalreport.texts.labels import in_sentence
from evalreport.texts.visible import short_names, visible

LONGEST_NAME = 48
"""Longer names of models are shortened in the headline."""
EQUAL = 1e-12
"""Two values that differ by less than this share of the larger one are the same number."""


@dataclass(frozen=True, slots=True)
class Limited:
    """A value with its limits, where it has any."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def half(self) -> float | None:
        """Half the width of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def as_change(self) -> Message:
        """Return a change in words, with its limits where it has any."""
        if self.low is None or self.high is None:
            return Message("headline.change_alone", value=self.value, half=None)
        return Message("headline.change", value=self.value, limits=(self.low, self.high), half=self.half)

    def holds(self, value: float) -> bool:
        """Say whether the interval holds a value; without an interval it does not."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models on one metric.

    ``by`` is by how much the first is better, positive also where smaller values are better; ``decided``: the deciding
    test tells them apart, in favour of ``first`` where ``ahead``.
    """

    first: str
    second: str
    quantity: Quantity
    by: Limited
    decided: bool
    ahead: bool
    verdict: str
    cut: bool = False


@dataclass(frozen=True)
class Facts:
    """What the rules ask of the results of one run."""

    results: Results

    # --- names and words ---------------------------------------------------------------------------------------------

    @cached_property
    def short(self) -> Mapping[str, str]:
        """The short name that the report calls each model by."""
        return short_names(self.results.models)

    def name(self, model: str) -> str:
        """Name a model: in full where that is readable, else as the report calls it."""
        full = visible(model)
        return full if full.strip() and len(full) <= LONGEST_NAME else self.short.get(model, full)

    def names(self, models: Iterable[str]) -> tuple[str, ...]:
        """Name models."""
        return tuple(self.name(model) for model in models)

    def words(self, quantity: Quantity) -> str:
        """Name a metric inside a sentence; outcomes and values by the user's own column."""
        if quantity.metric in MEANS_OF_A_COLUMN:
            text = visible(self.results.value_column)
        else:
            text = in_sentence(METRICS[quantity.metric].display.label)
        if quantity.average:
            text += f" ({quantity.average})"
        if quantity.label is not None:
            text += f", class {visible(quantity.label)}"
        if self.results.task == "binary" and quantity.metric in OF_THE_POSITIVE and self.results.positive:
            text += f" of “{visible(self.results.positive)}”"
        tasks = len(self.results.suite)
        if tasks and quantity == self.primary:
            text = str(Message("headline.over_tasks", metric=text, number=tasks))
        return text

    def spelled(self, name: str) -> Quantity | None:
        """Return the quantity over all examples that ``-m`` names."""
        return next((q for _, q in self._records if q.spelled == name), None) or self.overall(name)

    @cached_property
    def at_attempts(self) -> list[Quantity]:
        """The metrics of passing at several attempts."""
        return sorted(
            {q for _, q in self._records if METRICS[q.metric].needs == "passes"}, key=lambda q: q.spelled
        )

    def called(self, name: str) -> Quantity:
        """Return the quantity over all examples that a spelling such as ``f1_macro`` or ``recall[class=3]`` means.

        A bare name of a metric that is averaged means the first average of its registration.
        """
        return self.spelled(name) or Quantity(name)

    @cached_property
    def primary(self) -> Quantity | None:
        """The primary metric."""
        name = self.results.primary_metric
        return self.called(name) if name else None

    @property
    def quantity(self) -> Quantity:
        """The primary metric of results that have one."""
        assert self.primary is not None
        return self.primary

    def metric(self, quantity: Quantity) -> Metric:
        """Return the registered metric."""
        return METRICS[quantity.metric]

    def sign(self, quantity: Quantity) -> int:
        """Return -1 where smaller values are better, else 1; 1 also of a metric that only a newer version knows."""
        if quantity.metric not in METRICS:
            return 1
        scale = self.metric(quantity).scale
        turned = scale.turnable and bool(self.results.options.get("lower_is_better"))
        return -1 if scale.greater_is_better is turned else 1

    def loss(self, quantity: Quantity) -> str:
        """Return the ending of the texts in which a smaller value is better: "_loss", or nothing."""
        return "" if self.sign(quantity) > 0 else "_loss"

    # --- values and pairs --------------------------------------------------------------------------------------------

    @cached_property
    def ranked(self) -> list[str]:
        """The models that have a value of the primary metric, the best first."""
        if self.primary is None:
            return []
        sign = self.sign(self.primary)
        values = {m: self.value(m, self.primary) for m in self.results.models}
        known = {m: -sign * v.value for m, v in values.items() if v is not None}
        placed = dict(zip(known, levelled([*known.values()]), strict=True))
        return sorted(known, key=lambda m: (placed[m], m))

    @cached_property
    def without_value(self) -> list[str]:
        """The models that have no value of the primary metric."""
        return [m for m in self.results.models if m not in self.ranked]

    def record(self, model: str, quantity: Quantity) -> MetricRecord | None:
        """Return one model's record of a quantity over all examples."""
        return self._records.get((model, quantity))

    @cached_property
    def _records(self) -> dict[tuple[str, Quantity], MetricRecord]:
        records: dict[tuple[str, Quantity], MetricRecord] = {}
        for record in self.results.metrics:
            if record.slice is None:
                records.setdefault((record.model, Quantity.of(record)), record)
        return records

    def value(self, model: str, quantity: Quantity) -> Limited | None:
        """Return a model's value with its recommended interval; None where it has none."""
        record = self.record(model, quantity)
        if record is None or record.value is None or math.isnan(record.value):
            return None
        return Limited(record.value, *lookups.with_limits(record)[1:])

    def overall(self, metric: str) -> Quantity | None:
        """Return the quantity of a metric over all examples that the results hold."""
        return next((q for _, q in self._records if q.metric == metric and q.label is None), None)

    @cached_property
    def _leading(self) -> dict[tuple[frozenset[str], Quantity], ComparisonRecord]:
        found: dict[tuple[frozenset[str], Quantity], ComparisonRecord] = {}
        for row in self.results.comparisons:
            if row.leads and row.slice is None and row.b is not None:
                found.setdefault((frozenset((row.a, row.b)), Quantity.of(row)), row)
        return found

    def comparison(self, quantity: Quantity, a: str, b: str) -> ComparisonRecord | None:
        """Return the recommended comparison a - b; on the primary metric its limits are the pair's one interval."""
        record = self._leading.get((frozenset((a, b)), quantity))
        if record is None:
            return None
        seen, verdict = seen_from(a, record), self.verdict(a, b) if quantity == self.primary else None
        if verdict is None:
            return seen
        then = seen.difference if verdict.difference is None else verdict.difference
        return replace(seen, difference=then, level=verdict.level, low=verdict.low, high=verdict.high)

    @cached_property
    def _verdicts(self) -> dict[frozenset[str], VerdictRecord]:
        return {frozenset(verdict.about): verdict for verdict in reversed(self.results.verdicts)}

    def verdict(self, a: str, b: str, records: Sequence[VerdictRecord] | None = None) -> VerdictRecord | None:
        """Return the verdict of a seen from b, among those on the primary metric or among ``records``."""
        known = self._verdicts.get(frozenset((a, b)))
        among = filter(None, (known,)) if records is None else records
        return lookups.verdict_between(among, a, b)

    def pair(self, a: str, b: str, quantity: Quantity | None = None, *, metrics: int = 1) -> Pair | None:
        """Return a pair seen from ``a``; None where they were not compared.

        Parameters
        ----------
        metrics
            Of how many metrics this is one that is looked at; the primary one is decided by itself.
        """
        primary = quantity is None or quantity == self.primary
        about = self.quantity if quantity is None else quantity
        row = self.comparison(about, a, b)
        if row is None or row.difference is None:
            return None
        sign, verdict = self.sign(about), "undecided"
        by = oriented(row.difference, row.low, row.high, sign)
        cut = False
        if primary:
            found = self.verdict(a, b)
            if found is None:
                return None
            verdict, cut = found.verdict, is_cut(found)
            decided = verdict in ("better", "worse")
            ahead = verdict == "better"
            verdict = self._within_margin(by, verdict)
        else:
            # One of several pairs on one of several metrics is decided where it is by Bonferroni's level.
            pairs = len(rows_on(self.results, about))
            small = row.p_value is not None and row.p_value * pairs * metrics <= self.alpha
            decided = small and row.difference != 0 and not by.holds(0.0)
            ahead = by.value > 0
        return Pair(a, b, about, by, decided, ahead, verdict, cut)

    def turned(self, pair: Pair) -> Pair:
        """Return a pair seen from its other model."""
        other = self.pair(pair.second, pair.first, pair.quantity)
        assert other is not None
        return other

    def _within_margin(self, by: Limited, verdict: str) -> str:
        margin = self.margin
        if (
            margin is None
            or by.low is None
            or by.high is None
            or verdict in ("better", "worse", "equivalent")
        ):
            return verdict
        if by.low > -margin:
            return "non-inferior"
        return "not-better" if by.high < margin else verdict

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every compared pair on the primary metric, the better value first."""
        pairs = (self.pair(a, b) for a, b in combinations(self.ranked, 2))
        return [pair for pair in pairs if pair is not None]

    @property
    def without_a_test(self) -> bool:
        """Whether no test tests for equal values of the primary metric."""
        return self.primary is not None and bool(self.metric(self.primary).untested)

    @property
    def alpha(self) -> float:
        """The level of tests."""
        return 1 - self.results.deciding_level

    @property
    def margin(self) -> float | None:
        """The smallest difference that matters, where one was declared."""
        found = self.results.options.get("margin")
        return None if found is None else float(found)

    @property
    def baseline(self) -> str | None:
        """The model that the others are compared with."""
        return self.results.baseline

    def wins(self, first: str, second: str) -> tuple[int, int]:
        """Count on how many data sets the first of two models has the better value, and all of them."""
        primary = self.quantity
        values: dict[str, dict[tuple[object, object], float]] = {first: {}, second: {}}
        for fold in self.results.folds:
            if (
                fold.model in values
                and fold.metric == primary.metric
                and fold.label is None
                and fold.value is not None
            ):
                values[fold.model][fold.repeat, fold.fold] = fold.value
        shared = values[first].keys() & values[second].keys()
        sign = self.sign(primary)
        return sum(sign * (values[first][k] - values[second][k]) > 0 for k in shared), len(shared)

    # --- rules that need no model ------------------------------------------------------------------------------------

    def against_rule(self, model: str, quantity: Quantity) -> AgainstRuleRecord | None:
        """Return a model's pair with the rule that needs none; None where they were not compared."""
        return self._with_rule.get((model, quantity))

    @cached_property
    def _with_rule(self) -> dict[tuple[str, Quantity], AgainstRuleRecord]:
        return {(r.model, Quantity.of(r)): r for r in self.results.against_rule}

    # --- gates and audits --------------------------------------------------------------------------------------------

    @cached_property
    def pinned(self) -> dict[str, HistoryRecord]:
        """Each model's change since the newest accepted run, which gates are about."""
        return {r.model: r for r in self.results.history if r.reference == "accepted"}

    @cached_property
    def accepted(self) -> dict[str, HistoryRecord]:
        """Each model's change since it was accepted, as the alarm compares it: with the mean of the accepted runs."""
        return {model: _as_compared(record, self.worse.get(model)) for model, record in self.pinned.items()}

    @cached_property
    def worse(self) -> dict[str, AuditRecord]:
        """Each model's comparison with its accepted runs."""
        return {r.about: r for r in self.results.audit if r.question == "worse"}

    @property
    def is_audit(self) -> bool:
        """Whether the run was compared with an accepted one."""
        return bool(self.results.audit) or bool(self.accepted)

    def change(self, model: str) -> Limited | None:
        """Return by how much a model is better than when accepted; None where that is not known."""
        record = self.accepted.get(model)
        if record is None or record.difference is None:
            return None
        return oriented(record.difference, record.low, record.high, self.sign(self.quantity))

    def moved(self, model: str) -> int:
        """Return -1 (1) where a model is worse (better) than the accepted runs by three errors of the alarm."""
        row, change = self.worse.get(model), self.change(model)
        moved = 0 if row is None else int(row.details.get("moved", 0))
        if row is None or change is None or at_shares(row) is not None:
            return 0  # what moved may be the shares of the classes, which are said as a fact about the data
        return moved if moved * change.value > 0 else 0

    def alarms(self, *questions: str) -> list[AuditRecord]:
        """Return the alarms of some questions."""
        return [r for r in self.results.audit if r.alarm and r.question in questions]

    @cached_property
    def in_service(self) -> list[str]:
        """The models that an audit is about: the baseline, else those of gates, else who led when accepted."""
        if self.baseline is not None:
            return [self.baseline]
        named = [m for m in self.results.models if any(mentions(g.gate, m) for g in self.results.gates)]
        if named:
            return named
        then = {m: r.reference_value for m, r in self.accepted.items() if r.reference_value is not None}
        if not then:
            return list(self.ranked[:1])
        sign = self.sign(self.quantity)
        return [max(sorted(then), key=lambda m: sign * (then[m] or 0.0))]


def is_cut(record: VerdictRecord | DisparityRecord) -> bool:
    """Return whether the interval of a decided pair reached over 0 and was cut there."""
    return (record.method or "").endswith(CUT)


def at_shares(row: AuditRecord) -> tuple[float, float] | None:
    """Return the values now and then at the accepted shares of the classes, where the others tell less than half."""
    details = row.details
    if not {"now_at_shares", "now", "then", "reference"} <= details.keys():
        return None
    compared, plain = details["now_at_shares"] - details["reference"], details["now"] - details["then"]
    return None if compared * plain >= compared**2 / 2 else (details["now_at_shares"], details["reference"])


def _as_compared(record: HistoryRecord, row: AuditRecord | None) -> HistoryRecord:
    """Return a change with the values that the alarm compares, where it compares any."""
    details = {} if row is None else row.details
    if not {"then", "now"} <= details.keys():
        return record
    return replace(
        record,
        value=details["now"],
        reference_value=details["then"],
        difference=details["now"] - details["then"],
        low=details.get("change_low"),
        high=details.get("change_high"),
    )


def metric_words(spelled: str) -> str:
    """Name a metric inside a sentence as it is spelled; a name that is not registered stands as it is.

    Examples
    --------
    >>> metric_words("roc_auc"), metric_words("f1_macro"), metric_words("seconds")
    ('ROC AUC', 'F1 (macro)', 'seconds')
    """
    stem, _, average = spelled.rpartition("_")
    if spelled in METRICS:
        return in_sentence(METRICS[spelled].display.label)
    if average in ("macro", "micro", "weighted") and stem in METRICS:
        return f"{in_sentence(METRICS[stem].display.label)} ({average})"
    return visible(spelled)


def mentions(gate: str, model: str) -> bool:
    """Say whether a gate is about a model.

    Examples
    --------
    >>> mentions("forest.accuracy >= 0.9", "forest"), mentions('"C4.5".f1 > 0.8', "C4.5"), mentions("n >= 5", "n")
    (True, True, False)
    """
    if model == BEST:  # without quotes the word means whichever model leads
        return f'"{model}".' in gate
    return f"{model}." in gate or f'"{model}".' in gate


def oriented(value: float, low: float | None, high: float | None, sign: int) -> Limited:
    """Turn a difference so that positive is better.

    Examples
    --------
    >>> oriented(-2.0, -3.0, -1.0, -1)
    Limited(value=2.0, low=1.0, high=3.0)
    """
    if sign > 0:
        return Limited(value, low, high)
    return Limited(0.0 - value, None if high is None else 0.0 - high, None if low is None else 0.0 - low)


def amount(of: Limited, like: Limited | None = None, **how: object) -> Message:
    """Return a message of a value with its limits, with the digits that its interval (or that of ``like``) allows."""
    half = _telling(of.value, (like or of).half)
    if of.low is None or of.high is None:
        return Message("headline.value", value=of.value, half=half)
    return Message("headline.limited", value=of.value, limits=(of.low, of.high), half=half, **how)


def number_of(value: float, like: Limited | None = None) -> Message:
    """Return a message of a number with the digits of another one's interval, if there is one."""
    return Message("headline.value", value=value, half=None if like is None else like.half)


def values_beside(a: float, b: float, by: Limited, *, cut: bool = False) -> dict[str, Message]:
    """Return messages of two values and of the difference between them.

    The values have one decimal more where else the difference shown were not theirs: 0.8014 and 0.7865, by 0.015.
    ``cut``: the interval was cut at 0, which no sentence shows.
    """
    half = _telling(max(a, b, key=abs), by.half)
    finer = {} if _agree(a, b, by.value, half) else {"finer": True}
    first, second = (Message("headline.value", value=v, half=half, **finer) for v in (a, b))
    if by.low is None or by.high is None or cut:
        difference = Message("headline.value", value=by.value, half=half)
    else:
        difference = Message("headline.limited", value=by.value, limits=(by.low, by.high), half=half)
    return {"a": first, "b": second, "by": difference}


def add_up(a: float, b: float, by: Limited) -> bool:
    """Say whether a difference is that of the two values, to the digits that ``values_beside`` shows."""
    half = _telling(max(a, b, key=abs), by.half)
    return _agree(a, b, by.value, half) or _agree(a, b, by.value, half, finer=True)


def _telling(value: float, half: float | None) -> float | None:
    """Return the half width by whose digits a number that is not 0 does not look like 0."""
    while half and value and numbers.shown(value, half)[0] == 0:
        half /= 10
    return half


def _agree(a: float, b: float, by: float, half: float | None, *, finer: bool = False) -> bool:
    """Say whether the difference that is shown is that of the two values that are shown, ``finer`` or not.

    Of finer values it is theirs, rounded once more.
    """
    first, second = (numbers.shown(v, half, finer=finer) for v in (a, b))
    difference, step = numbers.shown(by, half)
    off = abs(abs(first[0] - second[0]) - abs(difference))
    return off < max(first[1], second[1], step) / 2 or (finer and off <= step / 2 * (1 + 1e-9))


def all_equal(values: Sequence[float | None]) -> bool:
    """Say whether numbers are the same but for rounding."""
    known = [v for v in values if v is not None]
    return not known or max(known) - min(known) <= EQUAL * max(1e-300, max(map(abs, known)))


def rows_on(results: Results, quantity: Quantity) -> list[ComparisonRecord]:
    """Return the recommended comparisons of a quantity over all examples."""
    return [
        r for r in results.comparisons if r.recommended and r.slice is None and Quantity.of(r) == quantity
    ]
