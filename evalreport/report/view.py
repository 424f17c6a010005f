"""Results seen from the report: models in rank order with their marks, and every pair in either direction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from evalreport.headline import all_inverted, inverted_models
from evalreport.headline.facts import Facts, is_cut
from evalreport.numbers import Digits, count, decimals_of, digits_of, interval
from evalreport.plots.style import mark_of
from evalreport.questions.slices.records import DisparityRecord
from evalreport.report.naming import metric_label
from evalreport.schema import lookups
from evalreport.schema.comparisons import ComparisonRecord, RankingRecord
from evalreport.schema.decisions import CUT, STRETCHED, VerdictRecord
from evalreport.schema.metrics import MetricRecord, Quantity
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import Message, in_words, say
from evalreport.texts.labels import in_sentence
from evalreport.texts.visible import visible

if TYPE_CHECKING:
    from evalreport.schema.results import Results


@dataclass(frozen=True, slots=True)
class Model:
    """One model as the report shows it.

    ``name`` is the one short name that the whole report calls it by, ``full`` the whole one. ``index`` is its place in
    rank order, from 0, by which it has its mark; ``key`` joins its rows, curves and colours.
    """

    id: str
    name: str
    key: str
    index: int
    symbol: str
    full: str = ""


@dataclass(frozen=True)
class View(Facts):
    """Results with what every section looks up."""

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The models in rank order."""
        ranked = enumerate(lookups.ranked(self.results))
        return tuple(Model(m, self.short[m], f"m{i}", i, mark_of(i).symbol, visible(m)) for i, m in ranked)

    @cached_property
    def primary(self) -> Quantity:
        """The metric that tables begin with: the primary one, or the usual one where none is primary."""
        return self.called(self.results.shown_metric)

    @cached_property
    def primary_label(self) -> str:
        """Its name in a heading."""
        return self.label(self.primary)

    @property
    def primary_words(self) -> str:
        """Its name inside a sentence."""
        return in_sentence(self.primary_label) if self.results.primary_column is None else self.primary_label

    @property
    def greater_is_better(self) -> bool:
        """Whether its larger values are better."""
        return self.sign(self.primary) > 0

    @property
    def confidence(self) -> float:
        """The confidence of the intervals."""
        return float(self.results.options.get("confidence", 0.95))

    def label(self, key: Quantity) -> str:
        """Return a metric's name in a heading; of the mean of a user's column the column's."""
        column = self.results.primary_column if key == self.primary else None
        return metric_label(key) if column is None else visible(column)

    @cached_property
    def keys(self) -> list[Quantity]:
        """The numbers about all examples, the primary metric first, single classes left out."""
        records = (r for r in self.results.metrics if r.slice is None and r.label is None)
        return sorted(dict.fromkeys(map(Quantity.of, records)), key=lambda key: key != self.primary)

    @cached_property
    def _digits(self) -> Mapping[Quantity, Digits]:
        by_key: dict[Quantity, list[MetricRecord]] = {}
        for (_, key), record in self._records.items():
            by_key.setdefault(key, []).append(record)
        return {
            key: digits_of(
                [r.value for r in records],
                [r.standard_error or lookups.quarter(*lookups.with_limits(r)[1:]) for r in records],
            )
            for key, records in by_key.items()
        }

    @cached_property
    def _digits_of_differences(self) -> Mapping[Quantity, Digits]:
        errors: dict[Quantity, list[float]] = {}
        for c in self.results.comparisons:
            error = lookups.quarter(c.low, c.high) if c.recommended and c.slice is None else None
            if error is not None:
                errors.setdefault(Quantity.of(c), []).append(error)
        values = {key: self.digits(key) for key in errors}
        return {
            key: values[key].at_least(decimals_of(error / 10.0 ** values[key].power for error in own))
            for key, own in errors.items()
        }

    @cached_property
    def tests_of_pair(self) -> Mapping[frozenset[str], Sequence[ComparisonRecord]]:
        """The tests of the primary metric about all examples, by pair of models."""
        by_pair: dict[frozenset[str], list[ComparisonRecord]] = {}
        for record in self.results.comparisons:
            if record.b is not None and record.slice is None and record.metric == self.primary.metric:
                by_pair.setdefault(frozenset((record.a, record.b)), []).append(record)
        return by_pair

    @property
    def threshold_was_chosen(self) -> bool:
        """Whether the labels are the models' own, or those of a threshold that somebody chose."""
        return not self.results.labels_at_half

    def model(self, name: str) -> Model:
        """Return the model of that name."""
        return next(m for m in self.models if m.id == name)

    @cached_property
    def inverted(self) -> frozenset[str]:
        """The models whose scores or labels are turned round, so that their rank on the primary metric is too."""
        return frozenset(inverted_models(self.results))

    @cached_property
    def is_ranked(self) -> bool:
        """Whether the order of the models says which is better: there is a verdict, and not every model is inverted."""
        return not self.results.is_blocked and not all_inverted(self.results)

    @property
    def weights_note(self) -> str:
        """The sentence that counts are sums of weights; nothing where every example counts as one."""
        column = self.results.options.get("weight")
        return "" if column is None else say("cases.note_weights", column=column, n=count(self.results.n))

    @property
    def ranked_words(self) -> str:
        """The words for the ranking: the primary metric, and for a suite over which tasks it is a mean."""
        tasks = self.results.suite
        if not tasks:
            return self.primary_words
        micro = self.results.options.get("average") == "examples"
        over = say("suite.all_examples" if micro else "suite.mean_over", number=in_words(len(tasks)))
        return say("suite.ranked", metric=self.primary_words, over=over)

    def records(self, key: Quantity) -> dict[str, MetricRecord]:
        """Return every model's record of one number over all examples, by model."""
        return {m: r for m in sorted(self.results.models) if (r := self.record(m, key)) is not None}

    def value_of(self, model: Model, key: Quantity) -> float | None:
        """Return one model's value of one number over all examples."""
        record = self.record(model.id, key)
        return None if record is None else record.value

    def place(self, model: str) -> RankingRecord | None:
        """Return one model's place."""
        return next((r for r in self.results.ranking if r.model == model), None)

    def digits(self, key: Quantity) -> Digits:
        """Return how one metric's values are written, the same for all models."""
        return self._digits.get(key, Digits(decimals_of([])))

    def digits_of_difference(self, key: Quantity) -> Digits:
        """Return how one metric's differences are written: as its values, with more decimals where they are finer."""
        return self._digits_of_differences.get(key) or self.digits(key)

    def leading_comparison(self, key: Quantity) -> ComparisonRecord | None:
        """Return the first comparison by the test that leads on a metric."""
        records = (r for r in self.results.comparisons if r.recommended and r.slice is None)
        return next((r for r in records if Quantity.of(r) == key), None)

    def interval(self, record: ComparisonRecord, digits: Digits) -> str:
        """Write the limits of a comparison; a limit that was cut at 0 is no part of them."""
        primary = Quantity.of(record) == self.primary
        verdict = self.verdict(record.a, record.b or "") if primary else None
        excluded = 0.0 if verdict is not None and is_cut(verdict) else None
        margin = self.margin if primary else None
        return interval(record.low, record.high, digits, signed=True, excluded=excluded, margin=margin)

    def verdict_word(self, a: Model, b: Model) -> str:
        """Return the kind of the verdict of a seen from b; undecided where there is none."""
        record = self.verdict(a.id, b.id)
        return "undecided" if record is None else record.verdict

    def unless_decided(self, finding: str, a: Model, b: Model) -> str:
        """Add to a finding that sets two models side by side that their difference is not decided, where it is not."""
        open_pair = self.verdict_word(a, b) in ("undecided", "non-inferior") and self.results.verdicts
        return say("finding.undecided", finding=finding) if a is not b and open_pair else finding

    def text(self, text: str | Message) -> str:
        """Show a sentence from the results with the models called as everywhere else."""
        shown = {model.id: model.name for model in self.models if model.id and model.id != model.name}
        if not shown:
            return visible(text)
        longest_first = sorted(shown, key=len, reverse=True)
        return visible(
            re.sub("|".join(map(re.escape, longest_first)), lambda match: shown[match[0]], str(text))
        )


def view_of(results: Results) -> View:
    """Prepare results for the sections of a report."""
    return View(results)


def n_cautions(warnings: Iterable[WarningRecord]) -> int:
    """Count the codes of warnings that limit how the figures may be read: the one number that every output gives."""
    return len({warning.code for warning in warnings if warning.level != "info"})


OF_PAIRS = {CUT: "limits.cut", STRETCHED: "limits.stretched"}
OF_SLICES = {CUT: "limits_of_slices.cut", STRETCHED: "limits_of_slices.stretched"}


def limits_at_zero(
    records: Iterable[VerdictRecord | DisparityRecord | None], explanations: Mapping[str, str] = OF_PAIRS
) -> str:
    """Explain limits at 0 that come from the test and not from the interval; empty where there are none."""
    methods = [record.method or "" for record in records if record is not None]
    return " ".join(
        say(key) for end, key in explanations.items() if any(method.endswith(end) for method in methods)
    )
