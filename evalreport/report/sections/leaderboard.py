"""The leaderboard: models in rank order, differences from the best or the baseline, groups of undecided models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from string import ascii_letters

from evalreport import numbers
from evalreport.headline.facts import is_cut, oriented
from evalreport.plots.curves import contenders
from evalreport.questions.ranks.records import RankSetRecord
from evalreport.report.naming import (
    display_of,
    entry,
    label_of,
    level_of_pairs,
    listed,
    metric_label,
    summary_of,
)
from evalreport.report.table import Cell, Scale, Stroke, difference_scale, stroke, value_cell
from evalreport.report.view import Model, View, limits_at_zero
from evalreport.schema.metrics import COMPANIONS, Quantity
from evalreport.texts import coded, in_words, named, say, shortened
from evalreport.texts.labels import in_sentence

N_COMPANIONS = 3
MOST_NAMED = 4
MOST_BEHIND = 2
"""Models that the title names as behind on the second metric."""
MOST_ROWS, MOST_BRACKETS = 20, 3
RULES = ("majority_class", "mean_truth")
"""Rules that the board shows: always predicting one class, or the mean."""
LETTER, LETTER_OF_TWO = 3.6, 5.0
"""Percent of a panel's width that a letter of its axis takes on paper: of one panel, and where two share the paper."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A model's difference from the reference: its size with its limits, and the stroke that shows them."""

    cell: Cell
    stroke: Stroke | None = None
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric's differences on one axis; ``band_text`` and ``rule_text`` name its shaded and its dotted part.

    ``alone``: of a single model, whose gap is to the rule that needs no model.
    """

    heading: str
    metric: str
    scale: Scale
    gaps: tuple[Gap, ...]
    band_text: str = ""
    rule_text: str = ""
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """One model's row; ``pieces`` are those of the brackets beside it, ``word`` its verdict beside a baseline.

    ``difference`` with its limits, its p-value ``p`` and the ``letters`` are for texts, which have no strokes.
    """

    model: Model
    rank: int | None
    value: Cell
    cells: tuple[Cell, ...]
    behind: bool
    edge: bool
    pieces: tuple[str, ...]
    letters: str
    difference: str
    p: str
    word: str = ""
    about: str = ""

    @property
    def rank_text(self) -> str:
        """The rank, or a dash."""
        return numbers.MISSING if self.rank is None else str(self.rank)

    @property
    def group(self) -> str:
        """What says whom it is told apart from: the verdict beside a baseline, else the letters."""
        return self.word or self.letters


@dataclass(frozen=True, slots=True)
class Notes:
    """Sentences below the board: rows left out, names, how it is read, limits at zero, who may be best."""

    more: str
    names: str
    reading: str
    at_zero: str
    best: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The board: a panel of the primary metric, a second one where the models differ on another metric only.

    The first ``n_named`` of the other metrics are shown wherever results are.
    """

    title: str
    heading: str
    about: str
    other_headings: tuple[str, ...]
    n_named: int
    panels: tuple[Panel, ...]
    second: tuple[Cell, ...]
    rows: tuple[Place, ...]
    n_brackets: int
    reference: Model | None
    notes: Notes

    @property
    def has_words(self) -> bool:
        """Whether every row has a word, as beside a baseline, and not inverted models alone."""
        return all(row.word for row in self.rows)

    @property
    def versus(self) -> str:
        """The model that the differences are taken from, the best or the baseline; nothing without differences."""
        if self.reference is None:
            return ""
        if self.has_words:
            return say("leaderboard.versus_baseline")
        return say("leaderboard.versus", model=self.reference.name)

    @property
    def daggers(self) -> tuple[str, ...]:
        """What the daggers of its values say, each once, for paper."""
        cells = [cell for row in self.rows for cell in (row.value, *row.cells)]
        return tuple(dict.fromkeys(str(cell.note) for cell in cells if cell.note))


def describe(view: View) -> Leaderboard | None:
    """Lay out the leaderboard; None without any value, or with a single model and nothing to compare it with."""
    keys = key_metrics(view)
    if not keys:
        return None
    reference = reference_model(view)
    second = conflict(view)
    shown = view.models[: max(MOST_ROWS, len(leading(view)))]
    others = [key for key in keys[1:] if second is None or key != second.key]
    named = named_metrics(view)
    others = others[: max(len(named), N_COMPANIONS if second is None else N_COMPANIONS - 1)]
    panels = (
        *_primary_panel(view, shown, reference, LETTER if second is None else LETTER_OF_TWO),
        *([] if second is None else [_panel_of(view, shown, second.key, second.best, letter=LETTER_OF_TWO)]),
    )
    brackets = _brackets(view, shown) if view.results.baseline is None else []
    at_zero = _at_zero(view, shown, reference, None)  # a terminal and summary.md show the first panel alone
    drawn_at_zero = _at_zero(view, shown, reference, second)
    letters = _lettered([_letters(view, model) for model in shown])
    rows = tuple(
        _row(view, shown, i, others, brackets, reference, panels, letters[i]) for i in range(len(shown))
    )
    return Leaderboard(
        title=_title(view, second),
        heading=_heading(view, view.primary),
        about=_about(view.primary),
        other_headings=tuple(_heading(view, key) for key in others),
        n_named=sum(key in named for key in others),
        panels=panels,
        second=() if second is None else tuple(metric_cell(view, m, second.key) for m in shown),
        rows=rows,
        n_brackets=len(brackets),
        reference=reference,
        notes=Notes(
            more=_more(view, shown, reference),
            names=_names(view),
            reading=f"{_note(view, panels, reference, brackets=bool(brackets))} {drawn_at_zero}".strip(),
            at_zero=at_zero,
            best=_best(view),
        ),
    )


# --- who leads, and where another metric disagrees ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Conflict:
    """A metric that decides between models that the primary one leaves undecided: the best, and who is behind."""

    key: Quantity
    best: Model
    behind: tuple[Model, ...]

    @property
    def words(self) -> str:
        """The metric inside a sentence."""
        return in_sentence(metric_label(self.key))


def leading(view: View) -> tuple[Model, ...]:
    """Return the models that may be best: not decided to be behind the one that ranks first, nor behind another one.

    All of them where every model is inverted.
    """
    return tuple(map(view.model, contenders(view.results))) if view.is_ranked else view.models


def conflict(view: View) -> Conflict | None:
    """Find whether contenders that the primary metric leaves undecided clearly differ on the companion metric."""
    group, records = leading(view), view.results.second_verdicts
    if len(group) < 2 or not records or not view.is_ranked or view.results.baseline is not None:
        return None
    key = next((k for k in view.keys if k.spelled == records[0].metric), None)
    values = {} if key is None else {m: v for m in group if (v := view.value_of(m, key)) is not None}
    if key is None or len(values) < 2:
        return None
    best = max(values, key=lambda m: (view.sign(key) * values[m], -m.index))
    verdicts = {m: view.verdict(best.id, m.id, records) for m in values}
    behind = [m for m, second in verdicts.items() if second is not None and second.verdict == "better"]
    behind.sort(key=lambda m: -abs(values[best] - values[m]))
    return Conflict(key, best, tuple(behind)) if behind else None


def key_metrics(view: View) -> tuple[Quantity, ...]:
    """Return the primary metric, those that a reader was told of, and the first few of those asked for next."""
    keys = view.keys
    filled = {Quantity.of(record) for record in view.results.metrics if record.value is not None}
    named = named_metrics(view)
    others = [
        key
        for name in COMPANIONS.get(view.results.task, ())
        for key in keys[1:]
        if key.metric == name
        and key.average in (None, "macro")
        and key in filled
        and key not in named
        # Nobody chose the threshold at which these labels were cut.
        and (view.threshold_was_chosen or not _of_labels(key))
    ]
    return (*keys[:1], *named, *others[: max(N_COMPANIONS - len(named), 0)])


def _of_labels(key: Quantity) -> bool:
    known = entry("metric", key.metric)
    return known is not None and known.needs == "labels"


def named_metrics(view: View) -> tuple[Quantity, ...]:
    """Return the metrics beside the primary one that are shown wherever results are, four at most.

    Those that the user named, else those of the headline's clause and of the caution that metrics disagree.
    """
    results, keys = view.results, view.keys
    filled = {Quantity.of(record) for record in results.metrics if record.value is not None}
    spelled = [str(name) for name in results.options.get("metrics") or ()]
    if not spelled:
        params = {} if results.headline is None else results.headline.params
        words = {value for name, value in params.items() if name.endswith("metric")}
        spelled = [key.spelled for key in keys if in_sentence(metric_label(key)) in words]
        contenders = {model.id for model in leading(view)}
        for warning in results.warnings:
            if warning.code == "metrics_disagree" and contenders & set(warning.about):
                spelled += warning.about[2:]
    keys_of = dict.fromkeys(map(view.called, spelled))
    return tuple(key for key in keys_of if key in keys[1:] and key in filled)[:MOST_NAMED]


def reference_model(view: View) -> Model | None:
    """Return the model that the differences are taken from: the baseline, else the leader."""
    if len(view.models) < 2 or not view.is_ranked:
        return None
    return view.models[0] if view.results.baseline is None else view.model(view.results.baseline)


# --- cells ----------------------------------------------------------------------------------------------------------


def metric_cell(view: View, model: Model, key: Quantity) -> Cell:
    """Return one value with its recommended interval."""
    return value_cell(view.record(model.id, key), view.digits(key))


def _heading(view: View, key: Quantity) -> str:
    return view.digits(key).headed(view.label(key) + (" ↓" if view.sign(key) < 0 else ""))


def _about(key: Quantity) -> str:
    formula = getattr(display_of("metric", key.metric), "formula", "")
    return f"{summary_of('metric', key.metric)} {metric_label(key)} = {formula}" if formula else ""


def _row(
    view: View,
    shown: Sequence[Model],
    i: int,
    others: Sequence[Quantity],
    brackets: Sequence[Sequence[str]],
    reference: Model | None,
    panels: Sequence[Panel],
    shown_letters: str,
) -> Place:
    model, place = shown[i], view.place(shown[i].id)
    ranks = next((record for record in view.results.rank_sets if record.model == model.id), None)
    letters = [_letters(view, m) for m in shown[max(i - 1, 0) : i + 1]]
    word = difference = p = ""
    if model is reference:
        difference = say("leaderboard.reference")
    elif reference is not None:
        difference, p = panels[0].gaps[i].cell.about, _p(view, model, reference)
    if view.results.baseline is not None and reference is not None:
        found = named("chip", view.verdict_word(model, reference))
        word = say("leaderboard.baseline") if model is reference else found
    if model.id in view.inverted:
        word = say("leaderboard.inverted")
    elif view.results.baseline in view.inverted:
        word = numbers.MISSING  # of a baseline that is turned round no model is better or worse
    turned = len(view.models) > 1 and (not view.is_ranked or model.id in view.inverted)
    has_rank = place is not None and place.value is not None and not view.results.is_blocked and not turned
    return Place(
        model=model,
        rank=None if place is None or not has_rank else place.rank,
        value=metric_cell(view, model, view.primary),
        cells=tuple(metric_cell(view, model, key) for key in others),
        behind=reference not in (None, model) and view.verdict_word(model, reference) == "worse",
        edge=len(letters) == 2 and not set(letters[0]) & set(letters[1]),
        pieces=tuple(column[i] for column in brackets),
        letters=shown_letters,
        difference=difference,
        p=p,
        word=word,
        about=model.full if ranks is None or model.id in view.inverted else say(
            "leaderboard.ranks", model=model.full, ranks=rank_words(ranks, len(view.results.rank_sets))
        ),
    )  # fmt: skip


def _p(view: View, model: Model, reference: Model) -> str:
    """Write the p-value of a model's difference from the reference."""
    record = view.comparison(view.primary, model.id, reference.id)
    if record is None:
        return ""
    return numbers.p_value(record.p_value if record.p_adjusted is None else record.p_adjusted)


def rank_words(record: RankSetRecord, models: int) -> str:
    """Write possible ranks: ``2 to 4 of 7``, or ``7 of 7``."""
    if record.low == record.high:
        return say("leaderboard.one_rank", rank=record.low, models=models)
    return say("leaderboard.rank_set", low=record.low, high=record.high, models=models)


def _best(view: View) -> str:
    """Name the models that may be best, where these are not all, and say what the one that leads is worth."""
    chosen, texts = view.results.chosen, []
    if not view.is_ranked:
        return ""
    sets = {} if view.inverted else {record.model: record for record in view.results.rank_sets}
    names = [m.name for m in view.models if m.id in sets and sets[m.id].may_be_best]
    if len(names) < len(sets):
        level = confidence_words(view)
        texts.append(say("leaderboard.may_be_best", names=listed(names), n=len(names), level=level))
    if chosen is not None and chosen.low is not None:
        texts.append(view.text(chosen.text))
    return " ".join(texts)


def confidence_words(view: View) -> str:
    """Write the confidence of what is said of all pairs together; of several looks it holds over all of them."""
    key = "leaderboard.confidence" if view.results.looks is None else "leaderboard.confidence_of_looks"
    return say(key, level=numbers.percent(view.confidence))


def _letters(view: View, model: Model) -> str:
    place = view.place(model.id)
    return "" if place is None else place.letters


def _lettered(letters: Sequence[str]) -> list[str]:
    """Rename the letters of groups of undecided models in the order of the table.

    Examples
    --------
    >>> _lettered(["b", "bc", "c", "a"])
    ['a', 'ab', 'b', 'c']
    """
    used = dict.fromkeys("".join(letters))
    if len(used) > len(ascii_letters):
        return list(letters)
    place = dict(zip(used, ascii_letters, strict=False))
    return ["".join(sorted(place[letter] for letter in own)) for own in letters]


# --- brackets -------------------------------------------------------------------------------------------------------


def _brackets(view: View, shown: Sequence[Model]) -> list[list[str]]:
    """Return columns of brackets: the piece beside each row of models that share a letter, or nothing.

    Brackets that share no row stand in one column.
    """
    columns: list[list[str]] = []
    for letter in sorted({letter for m in shown for letter in _letters(view, m)}):
        members = [i for i, m in enumerate(shown) if letter in _letters(view, m)]
        if len(members) < 2:
            continue
        first, last = members[0], members[-1]
        column = next((own for own in columns if not any(own[first:])), None)
        if column is None:
            column = [""] * len(shown)
            columns.append(column)
        column[first : last + 1] = ["middle" if i in members else "gap" for i in range(first, last + 1)]
        column[first], column[last] = "top", "bottom"
    return columns[:MOST_BRACKETS]


def _bracket_word(view: View) -> str:
    """Name the one bracket where all pairs are equivalent."""
    if view.results.verdicts and {record.verdict for record in view.results.verdicts} == {"equivalent"}:
        return say("leaderboard.equivalent", margin=view.margin or 0.0)
    return ""


# --- panels ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """A model minus the reference with its limits, turned so that greater is better."""

    value: float | None
    low: float | None = None
    high: float | None = None
    behind: bool = False
    cut: bool = False


def _primary_panel(
    view: View, shown: Sequence[Model], reference: Model | None, letter: float
) -> tuple[Panel, ...]:
    if reference is None:
        return _against_rule(view)
    rule, rule_text = _majority(view, reference)
    best = "leaderboard.best" if view.results.baseline is None else "leaderboard.baseline"
    return (
        _panel_of(
            view, shown, view.primary, reference, letter=letter, margin=view.margin, best=best,
            rule=None if rule is None else view.sign(view.primary) * rule, rule_text=rule_text,
        ),
    )  # fmt: skip


def _against_rule(view: View) -> tuple[Panel, ...]:
    """Lay out a single model's gap to always predicting one class, or the mean, with the limits of that pair."""
    model = view.models[0]
    pairs = [p for p in view.results.against_rule if p.rule in RULES and Quantity.of(p) == view.primary]
    if len(view.models) > 1 or not pairs or pairs[0].difference is None:
        return ()
    pair, sign, digits = pairs[0], view.sign(view.primary), view.digits(view.primary)
    by = oriented(pairs[0].difference, pair.low, pair.high, sign)
    heading = say(
        "leaderboard.gap_rule", metric=view.primary_label, rule=_rule_words(pair.rule, pair.answer or "")
    )
    differences = [(model, Difference(by.value, by.low, by.high))]
    panel = _panel(heading, view.primary_label, differences, None, digits=digits, letter=LETTER)
    gap = panel.gaps[0]
    size = replace(gap.cell, value=numbers.number(by.value, digits, signed=True))
    return (replace(panel, gaps=(replace(gap, cell=size),), alone=True),)


def _panel_of(
    view: View, shown: Sequence[Model], key: Quantity, reference: Model, *, letter: float,
    margin: float | None = None, rule: float | None = None, rule_text: str = "", best: str = "leaderboard.best",
) -> Panel:  # fmt: skip
    """Lay out the models' differences from the reference on one metric, with the limits of their verdicts."""
    verdicts, sign = None if key == view.primary else view.results.second_verdicts, view.sign(key)
    differences = []
    for model in shown:
        record = view.comparison(key, model.id, reference.id)
        verdict = view.verdict(model.id, reference.id, verdicts)
        if record is None or record.difference is None:
            differences.append((model, Difference(None)))
            continue
        low, high = (record.low, record.high) if verdict is None else (verdict.low, verdict.high)
        by = oriented(record.difference, low, high, sign)
        behind = verdict is not None and verdict.verdict == "worse"
        cut = verdict is not None and is_cut(verdict)
        differences.append((model, Difference(by.value, by.low, by.high, behind, cut)))
    gap = "leaderboard.gap" if view.results.baseline is None else "leaderboard.gap_baseline"
    heading, digits = say(gap, metric=view.label(key), model=reference.name), view.digits_of_difference(key)
    return _panel(
        heading, digits.headed(view.label(key)), differences, reference, digits=digits, letter=letter, margin=margin,
        rule=rule, rule_text=rule_text, best=best,
    )  # fmt: skip


def _majority(view: View, reference: Model) -> tuple[float | None, str]:
    """Return how far the rule that needs no model is from the reference, and its name; nothing where there is none."""
    own = view.value_of(reference, view.primary)
    for record in view.results.baselines:
        if Quantity.of(record) == view.primary and own is not None and record.name in RULES:
            return record.value - own, _rule_words(record.name, coded(record.text)[1].get("name", ""))
    return None, ""


def _rule_words(rule: str, label: object) -> str:
    """Name what the rule always predicts: the most frequent class, or the mean."""
    return say(f"leaderboard.rule.{rule}", label=label)


def _panel(
    heading: str,
    metric: str,
    differences: Sequence[tuple[Model, Difference]],
    reference: Model | None,
    *,
    digits: numbers.Digits,
    letter: float,
    margin: float | None = None,
    rule: float | None = None,
    rule_text: str = "",
    best: str = "leaderboard.best",
) -> Panel:
    shown = [d for m, d in differences if m is not reference]
    ends = [v for d in shown for v in (d.value, d.low, d.high) if v is not None and math.isfinite(v)]
    scale = difference_scale(
        ends, left=say("leaderboard.left"), right=say("leaderboard.right"), margin=margin, dotted=rule,
        letter=letter, power=digits.power,
    )  # fmt: skip

    def gap(model: Model, d: Difference) -> Gap:
        named_stroke = partial(stroke, scale, mark=model, grey=d.behind)
        whose = f"{model.name}, {heading}"
        if model is reference:
            text = say(best)
            return Gap(Cell(text, order=0.0), named_stroke(0.0, title=f"{whose}: {text}"))
        if d.value is None:
            return Gap(Cell(numbers.MISSING))
        text = numbers.number(abs(d.value), digits)
        size = text if d.value < 0 else say("leaderboard.ahead", size=text)
        size = size if d.value else say("leaderboard.tied")
        about, limits = numbers.number(d.value, digits, signed=True), ""
        if d.low is not None and d.high is not None:
            excluded = 0.0 if d.cut else None
            limits = numbers.interval(d.low, d.high, digits, signed=True, excluded=excluded, margin=margin)
        about = f"{about} {limits}".strip()
        low, high = (d.low, d.high) if limits else (None, None)
        drawn = named_stroke(d.value, low, high, title=f"{whose}: {about}")
        return Gap(Cell(size, limits, d.value, about=about), drawn, d.behind)

    dotted = scale.dotted is not None
    band_text = say("leaderboard.margin", margin=margin) if margin is not None and not dotted else ""
    gaps = tuple(gap(m, d) for m, d in differences)
    return Panel(heading, metric, scale, gaps, band_text, rule_text if dotted else "")


# --- title and notes ------------------------------------------------------------------------------------------------


def _title(view: View, second: Conflict | None) -> str:
    n = len(leading(view))
    if len(view.models) > 1 and view.inverted and not view.is_ranked:
        return say("leaderboard.title_inverted", metric=view.primary_label, n=len(view.inverted))
    if view.results.is_blocked:
        return say("leaderboard.title_blocked", metric=view.primary_label)
    if len(view.models) == 1:
        return say("leaderboard.title_single", metric=view.primary_label)
    if second is not None:
        return say(
            "leaderboard.title_conflict",
            metric=view.primary_label,
            number=in_words(n),
            second=second.words,
            best=second.best.name,
            behind=shortened([model.name for model in second.behind], MOST_BEHIND),
        )
    return say("leaderboard.title", metric=view.digits(view.primary).headed(view.ranked_words))


def _names(view: View) -> str:
    """Say which model each short name means; nothing where all stand in full."""
    short = [model for model in view.models if model.name != model.full]
    if not short:
        return ""
    head, _, tail = short[0].full.partition(short[0].name)
    if all(model.full == f"{head}{model.name}{tail}" for model in view.models):
        return say("leaderboard.names_cut", head=f"{head}…{tail}")
    pairs = [say("leaderboard.short_name", short=model.name, full=model.full) for model in short]
    return say("leaderboard.short_names", names=", ".join(pairs))


def _more(view: View, shown: Sequence[Model], reference: Model | None) -> str:
    rest = view.models[len(shown) :]
    if not rest or reference is None:
        return ""
    gaps = [abs(r.difference) for m in rest if (r := view.comparison(view.primary, m.id, reference.id))
            and r.difference is not None]  # fmt: skip
    size = numbers.to_digits(min(gaps), 2) if gaps else numbers.MISSING
    return say("leaderboard.more", n=len(rest), size=size)


def _note(view: View, panels: Iterable[Panel], reference: Model | None, *, brackets: bool) -> str:
    panels = tuple(panels)
    if panels and panels[0].alone:
        return f"{say('leaderboard.minus_rule')} {_value_note(view)}"
    if reference is None or not panels:
        return _value_note(view)
    against = "leaderboard.minus_baseline" if view.results.baseline is not None else "leaderboard.minus_best"
    parts = [say(against, level=level_of_pairs(view.results))]
    gaps = [gap for panel in panels for gap in panel.gaps]
    if any(gap.behind for gap in gaps):
        parts.append(say("leaderboard.grey"))
    if view.inverted:
        parts.append(say("leaderboard.inverted_note"))
    if brackets:
        word = _bracket_word(view)
        parts.append(say("leaderboard.bracket_of", word=word) if word else say("leaderboard.bracket"))
    if panels[0].scale.band is not None:
        parts.append(say("leaderboard.shaded", margin=view.margin or 0.0))
    if panels[0].scale.dotted is not None:
        parts.append(say("leaderboard.dotted", rule=panels[0].rule_text))
    if view.margin is None and any(r.verdict == "undecided" for r in view.results.verdicts):
        parts.append(say("leaderboard.no_margin"))
    return " ".join(parts)


def _at_zero(view: View, shown: Sequence[Model], reference: Model | None, second: Conflict | None) -> str:
    """Explain limits at 0 of the intervals that the board draws."""
    drawn = [] if reference is None else [view.verdict(m.id, reference.id) for m in shown]
    if second is not None:
        drawn += [view.verdict(m.id, second.best.id, view.results.second_verdicts) for m in shown]
    return limits_at_zero(drawn)


def _value_note(view: View) -> str:
    record = view.record(view.models[0].id, view.primary)
    if record is None or not record.intervals:
        return ""
    by = label_of("interval", record.intervals[0].method)
    return say("leaderboard.interval", level=numbers.percent(view.confidence), method=by)
