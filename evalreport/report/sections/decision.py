"""The decision: a headline, the gates, at most two cautions, the leaderboard, and how many examples would settle it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from evalreport import numbers
from evalreport.plots.lookups import quarter, true_counts
from evalreport.plots.pictures import Figure
from evalreport.report.naming import entry, find_key, listed
from evalreport.report.sections import audit
from evalreport.report.sections.leaderboard import (
    Conflict,
    Leaderboard,
    conflict,
    has_words,
    leading,
    majority_label,
    metric_cell,
    second_between,
)
from evalreport.report.sections.leaderboard import describe as describe_board
from evalreport.report.sections.tasks import at_each
from evalreport.report.view import (
    Model,
    View,
    comparison_between,
    n_cautions,
    over_tasks,
    overall_keys,
    ranked_words,
    text_of,
    value_of,
    verdict_between,
    verdict_word,
    weights_note,
)
from evalreport.report.visible import visible
from evalreport.schema.decisions import GateRecord, VerdictRecord
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import coded, in_words, joined, named, say
from evalreport.texts.labels import sentence_start

MOST_CAUTIONS = 2
MOST_CROSSING = 3
MOST_PASSES = 6
OF_ALGORITHMS = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose verdict is about training again."""
OF_THE_TEST = frozenset(
    {
        "few_errors_of_a_class",
        "few_flagged",
        "few_clusters",
        "unequal_weights",
        "few_large_losses",
        "few_seeds",
        "judge_favours",
        "few_gold",
        "few_judge_errors",
    }
    | {"short_interval", "short_difference_interval", "folds_taken_as_independent", "trained_on_test"}
)
"""Cautions about the error rate of the verdict's own test or interval: they come first."""
OF_CROSSINGS = frozenset({"verdict.no_overall_winner", "verdict.not_at_every_point"})
OUTCOMES = ("fail", "undecided", "pass")
ALARMS = frozenset({"slice_fell", "worse_than_accepted", "data_changed"})
"""Cautions that the headline of an audit says."""
SIGNS = {">=": "≥", "<=": "≤"}


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: its outcome and the word for it, its subject, the value that was found, and the bar it needs."""

    outcome: str
    word: str
    subject: str
    found: str
    bar: str
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The first screen; ``tone`` is the colour of its frame: alarm, quiet, or none.

    An audit shows its series as ``figure``, and of one model no board.
    """

    headline: str
    about: str
    tone: str
    gates: tuple[Gate, ...]
    passed: int
    cautions: tuple[str, ...]
    all_cautions: int
    figure: Figure | None
    board: Leaderboard | None
    settle: str


def describe(view: View) -> Decision:
    """Describe the first screen."""
    changed = audit.headline(view)
    headline = changed.text if changed is not None else _with_tasks(view, _headline(view))
    failed = sum(gate.outcome == "fail" for gate in view.results.gates)
    if failed and (changed is None or not changed.alarm):
        headline += " " + say("decision.gates_fail", n=failed, number=sentence_start(in_words(failed)))
    gates = gates_of(view)
    passes = [gate for gate in gates if gate.outcome == "pass"]
    few = len(gates) <= MOST_PASSES
    figure = audit.describe_nights(view)
    n_all = n_cautions(view.results.warnings)
    cautions = [] if changed is not None and not changed.alarm else _cautions(view)
    return Decision(
        headline=headline,
        about=about(view) if changed is None else changed.about,
        tone="" if changed is None else "alarm" if changed.alarm else "quiet",
        gates=tuple(gate for gate in gates if few or gate.outcome != "pass"),
        passed=0 if few else len(passes),
        cautions=tuple(cautions[:MOST_CAUTIONS]),
        all_cautions=n_all if cautions and n_all > len(cautions[:MOST_CAUTIONS]) else 0,
        figure=figure,
        board=None if figure is not None and len(view.models) == 1 else describe_board(view),
        settle=_settle(view) if changed is None or changed.alarm else "",
    )


# --- the headline ---------------------------------------------------------------------------------------------------


def _headline(view: View) -> str:
    if len(view.models) == 1:
        return _single(view)
    if all(
        any(coded(part)[0] == "verdict.not_comparable" for part in joined(record.text))
        for record in view.results.verdicts
    ):
        return say("decision.no_verdict", metric=view.primary_words)
    if view.results.baseline is not None:
        return _against_baseline(view, view.model(view.results.baseline))
    if len(view.models) == 2:
        return _of_two(view)
    return _of_many(view)


def _with_tasks(view: View, headline: str) -> str:
    """Say of a suite what the headline is about."""
    over = over_tasks(view)
    return say("suite.headline", over=sentence_start(over), headline=headline) if over else headline


def _single(view: View) -> str:
    model = view.models[0]
    own = value_of(view, model, view.primary)
    if own is None:
        return say("decision.no_verdict", metric=view.primary_words)
    known = entry("metric", view.primary.metric)
    rule = next(
        (r for r in view.results.baselines if r.metric == view.primary.metric and has_words(r.name)), None
    )
    if known is None or not known.scale.share_of_right or rule is None:
        value = metric_cell(view, model, view.primary).value
        return say("decision.reaches", model=model.name, metric=view.primary_words, value=value)
    points = 100 * (own - rule.value)
    return say(
        "decision.single_more" if points >= 0 else "decision.single_fewer",
        model=model.name,
        share=numbers.share(own, 1.0),
        points=numbers.number(abs(points), 1),
        rule=say(f"decision.rule.{rule.name}", label=majority_label(view)),
    )


def _of_two(view: View) -> str:
    """Say the verdict on two models, the leader first."""
    leader, other = view.models
    kind = verdict_word(view, leader, other)
    if kind == "worse":
        kind = "undecided"
    known = {"leader": leader.name, "other": other.name, "metric": view.primary_words}
    if kind == "better":
        again = "_again" if view.results.design in OF_ALGORITHMS else ""
        return say(f"decision.two_better{again}", **known, gap=_gap(view, leader, other), n=_n_fits(view))
    if kind == "undecided" and verdict_word(view, other, leader) == "non-inferior":
        kind, known = "non-inferior", known | {"leader": other.name, "other": leader.name}
    text = say(f"decision.two_{kind.replace('-', '_')}", **known, margin=_margin(view))
    return text + _conflict_clause(view, conflict(view))


def _by_units(view: View, examples: str, questions: str, scores: str) -> str:
    """Return the key of the text for examples, questions or scores."""
    return scores if view.results.task == "scores" else questions if at_each(view) else examples


def _of_many(view: View) -> str:
    leader, group = view.models[0], leading(view)
    behind = [m for m in view.models if m not in group]
    n, found = len(view.models), conflict(view)
    kinds = {record.verdict for record in view.results.verdicts}
    known = {"metric": view.primary_words, "number": in_words(n), "n": n, "leader": leader.name}
    if not behind:
        if kinds == {"equivalent"}:
            head = say("decision.all_equivalent", **known, margin=_margin(view))
        elif all(verdict_word(view, leader, m) == "equivalent" for m in group[1:]):
            head = say("decision.equivalent_to_leader", **known, margin=_margin(view))
        elif found is None:
            key = _by_units(
                view,
                "decision.none_told_apart",
                "decision.none_told_apart_questions",
                "decision.none_told_apart_scores",
            )
            return say(key, **known, examples=numbers.count(view.results.n))
        else:
            head = say("decision.too_close", **known)
        return head + _conflict_clause(view, found)
    if found is not None and len(group) > 1:
        model, size = found.behind[0]
        second = {"second": found.words, "model": model.name, "size": numbers.to_digits(size, 2)}
        return say("decision.lead_but", **known, **second, names=_names(group))
    least = min((_gap_size(view, leader, m) or 0.0 for m in behind), default=0.0)
    if len(group) == 1:
        again = view.results.design in OF_ALGORITHMS
        nearest = min(behind, key=lambda m: _gap_size(view, leader, m) or 0.0)
        gap = _gap(view, leader, nearest)
        return say(
            "decision.leads_again" if again else "decision.leads",
            **known,
            gap=gap,
            next=nearest.name,
            fits=_n_fits(view),
        )
    pairs = combinations(group, 2)
    alike = all(verdict_word(view, a, b) == "equivalent" for a, b in pairs)
    parts = {"names": _names(group), "size": numbers.to_digits(least, 2), "margin": _margin(view)}
    rest = say("decision.behind", n=len(behind), number=in_words(len(behind)), model=behind[0].name, **parts)
    return say("decision.lead_equivalent" if alike else "decision.lead_together", **known, **parts, rest=rest)


def _names(group: Sequence[Model]) -> str:
    """Name up to three models; of more, the first and how many others."""
    if len(group) <= 3:
        return listed([m.name for m in group], 3)
    n = len(group) - 1
    return say("decision.leader_and", leader=group[0].name, n=n, number=in_words(n))


def _against_baseline(view: View, baseline: Model) -> str:
    others = [m for m in view.models if m is not baseline]
    verdicts = {m: verdict_word(view, m, baseline) for m in others}
    better, worse = ([m for m in others if verdicts[m] == kind] for kind in ("better", "worse"))
    known = {"baseline": baseline.name, "metric": view.primary_words}
    if len(better) == 1:
        return say(
            "decision.one_beats_baseline", **known, model=better[0].name, gap=_gap(view, better[0], baseline)
        )
    if better:
        return say("decision.some_beat_baseline", **known, models=listed([m.name for m in better], 3))
    if len(worse) == len(others):
        return say("decision.all_behind_baseline", **known, n=len(others), model=others[0].name)
    if len(others) == 1:
        kind = verdicts[others[0]].replace("-", "_")
        known |= {"leader": others[0].name, "other": baseline.name}
        return say(f"decision.two_{kind}", **known, margin=_margin(view))
    text = say("decision.none_beats_baseline", **known)
    if worse:
        number = in_words(len(worse))
        text = say(
            "decision.some_behind",
            text=text.removesuffix("."),
            n=len(worse),
            number=number,
            model=worse[0].name,
        )
    return text


def _conflict_clause(view: View, found: Conflict | None) -> str:
    """Say on which other metric the contenders clearly differ, and who is furthest behind on it."""
    if found is None:
        return "."
    model, size = found.behind[0]
    known = {
        "metric": found.words,
        "model": model.name,
        "size": numbers.to_digits(size, 2),
        "best": found.best.name,
    }
    return say("decision.but_not_on" if len(view.models) > 2 else "decision.but_ahead_on", **known)


def _gap_size(view: View, a: Model, b: Model) -> float | None:
    record = comparison_between(view, view.primary, a.id, b.id)
    return None if record is None or record.difference is None else abs(record.difference)


def _gap(view: View, a: Model, b: Model) -> str:
    size = _gap_size(view, a, b)
    return numbers.MISSING if size is None else numbers.to_digits(size, 2)


def _margin(view: View) -> str:
    margin = view.results.options.get("margin")
    return "" if margin is None else f"{margin:g}"


def _n_fits(view: View) -> int:
    return len({(fold.repeat, fold.fold) for fold in view.results.folds})


def about(view: View) -> str:
    """Say in one line how many examples, which design, and by which metric models are ranked."""
    results = view.results
    n, attempts = numbers.count(results.n), at_each(view)
    scores = results.task == "scores"
    parts = [] if scores else [say("decision.examples", n=results.n)]
    counts = true_counts(results)
    total, positives = sum(counts.values()), counts.get(results.positive or "", 0.0)
    if attempts:
        least, most = attempts
        key = "decision.attempts_alike" if least == most else "decision.attempts_unlike"
        parts = [f"{say('decision.questions', n=results.n)}, {say(key, least=least, most=most)}"]
    elif results.positive is not None and positives:
        known = {"label": results.positive, "share": numbers.share(positives, total)}
        # Over several fits an example is counted more than once.
        which = (
            "weight_of_positives"
            if weights_note(view)
            else "positives"
            if total == results.n
            else "share_of_positives"
        )
        parts = [say(f"decision.{which}", n=n, positives=numbers.count(positives), **known)]
    elif results.task == "multiclass":
        parts = [say("decision.of_classes", n=n, classes=len(results.classes))]
    if parts and (clusters := _clusters(view)) is not None:
        number, effective = clusters
        shown = numbers.number(effective, 1)
        key = "clusters" if shown == numbers.number(number, 1) else "clusters_effective"
        column = visible(str(view.results.options["cluster"]))
        parts[0] += ", " + say(f"decision.{key}", n=number, column=column, effective=shown)
    judged = [r.n_gold for r in results.judge_agreement if r.model is not None]
    if judged:
        parts.append(say("decision.judged_by_people", n=max(judged)))
    if results.design != "test-set":
        fits = _n_fits(view)
        if results.design == "datasets" and fits > 1:
            parts.append(say("decision.data_sets", n=fits))
        else:
            parts.append(
                named("design", results.design) + (f" ({say('decision.fits', n=fits)})" if fits > 1 else "")
            )
    if len(view.models) > 1:
        parts.append(say("decision.ranked_by", metric=ranked_words(view)))
    if len(view.models) > 1 and not scores:
        same = say("decision.same_questions" if attempts else "decision.same_examples")
        parts.append(say("decision.own_examples") if results.options.get("join") == "independent" else same)
    return " · ".join(parts)


def _clusters(view: View) -> tuple[int, float] | None:
    """Return the number of clusters and their effective number, under ``--cluster``."""
    if not view.results.options.get("cluster"):
        return None
    found = ((r.clusters, r.clusters_effective) for r in view.results.metrics if r.slice is None)
    return next(((n, effective) for n, effective in found if n and effective), None)


# --- gates and cautions ---------------------------------------------------------------------------------------------


def gates_of(view: View) -> list[Gate]:
    """Return the gates, failures first."""
    gates = []
    for gate in sorted(view.results.gates, key=lambda gate: OUTCOMES.index(gate.outcome)):
        subject, sign, bar = (*re.split(r"\s*(>=|<=|>|<)\s*", gate.gate, maxsplit=1), "", "")[:3]
        found = "" if gate.value is None else numbers.to_digits(gate.value, 4)
        if gate.outcome != "pass" and None not in (gate.value, gate.low, gate.high):
            found = _with_limits(gate)
        bar = text_of(view, f"{SIGNS.get(sign, sign)} {bar}") if sign else ""
        word, text = named("gate", gate.outcome), text_of(view, gate.text)
        gates.append(Gate(gate.outcome, word, text_of(view, subject), found, bar, text))
    return gates


def caution_text(view: View, warning: WarningRecord) -> str:
    """Write a warning as the first screen does: with short names, and of curves that cross those of contenders."""
    pairs = _crossing(view) if warning.code == "curves_cross" else []
    if not pairs:
        return text_of(view, warning.text)
    if len(pairs) > MOST_CROSSING:
        pairs[MOST_CROSSING:] = [say("list.more_pairs", n=len(pairs) - MOST_CROSSING)]
    return say("warning.curves_cross.clearly", pairs=pairs)


def _crossing(view: View) -> list[str]:
    """Name the pairs of contenders whose curves cross by more than their bands allow."""
    contenders = {m.id for m in leading(view)}
    return [
        listed([view.model(m).name for m in (r.a, r.b)])
        for r in view.results.dominance
        if r.clear and r.beyond_bands and {r.a, r.b} <= contenders
    ]


def _with_limits(gate: GateRecord) -> str:
    """Write a gate's value and its interval with the same decimals."""
    decimals = numbers.decimals_of([quarter(gate.low, gate.high)])
    excluded = 0.0 if any(coded(part)[0] == "gates.value_decided" for part in joined(gate.text)) else None
    limits = numbers.interval(gate.low, gate.high, decimals, excluded=excluded)
    return f"{numbers.number(gate.value, decimals)} {limits}"


def _cautions(view: View) -> list[str]:
    """Return what limits the verdict, the gravest first, each once; nothing about models that are clearly behind."""
    metric, contenders = entry("metric", view.primary.metric), {m.id for m in leading(view)}
    known, differ = {m.id for m in view.models}, conflict(view) is not None
    texts = {str(i): text for i, text in enumerate(_crossings(view))}
    order = sorted(view.results.warnings, key=lambda w: (w.level != "blocker", w.code not in OF_THE_TEST))
    for warning in order:
        named_models = known & set(warning.about)
        if (
            warning.level == "info"
            or warning.code in ALARMS
            or (named_models and not named_models & contenders)
        ):
            continue  # it changes no reading of the verdict
        if warning.level != "blocker" and _about_others(view, warning):
            continue  # the verdict is not about that metric
        if warning.code == "majority_class" and metric is not None and not metric.scale.share_of_right:
            continue  # it says that other metrics than the share of right answers tell more
        if warning.code == "curves_cross" and not _crossing(view):
            continue  # the curves of others cross
        if warning.code == "metrics_disagree" and differ:
            continue  # the headline says it
        texts.setdefault(warning.code, caution_text(view, warning))
    return list(texts.values())


def _crossings(view: View) -> list[str]:
    """Return what the first model's verdicts say of curves that cross: no model is then ahead everywhere."""
    found = []
    for model in leading(view)[1:2] if view.results.baseline is None else ():
        record = verdict_between(view, view.models[0].id, model.id)
        parts = joined(record.text) if record is not None else ()
        found += [text_of(view, part) for part in parts if coded(part)[0] in OF_CROSSINGS]
    return found


def _about_others(view: View, warning: WarningRecord) -> bool:
    """Return whether a warning is about metrics, none of which the verdict is about."""
    keys, names = overall_keys(view.results), set(warning.about) - {m.id for m in view.models}
    metrics = {name for name in names if find_key(name, keys) in keys}
    return bool(metrics) and view.results.primary_metric not in metrics


# --- what would settle it -------------------------------------------------------------------------------------------


def _settle(view: View) -> str:
    """Say how many examples would settle the foremost open pair; nothing where none is open."""
    found = conflict(view)
    if found is None:
        open_pair = _foremost_open(view, view.models)
        return "" if open_pair is None else _needed(view, *open_pair, metric="")
    behind = {model.id for model, _ in found.behind}
    for model in leading(view):
        if model is not found.best and model.id not in behind:
            record = second_between(view, found.best.id, model.id)
            if record is not None and record.verdict == "undecided":
                return _needed(view, found.best, model, record, metric=found.words)
    return ""


def _foremost_open(view: View, models: Sequence[Model]) -> tuple[Model, Model, VerdictRecord] | None:
    if view.results.baseline is not None:
        baseline = view.model(view.results.baseline)
        pairs = [(m, baseline) for m in models if m is not baseline]
    else:
        pairs = [(models[0], m) for m in leading(view)[1:]]
    for a, b in pairs:
        record = verdict_between(view, a.id, b.id)
        if record is not None and record.verdict in ("undecided", "non-inferior"):
            return a, b, record
    return None


def _needed(view: View, a: Model, b: Model, record: VerdictRecord, *, metric: str) -> str:
    """Say how many examples would show the observed difference, or which difference these examples would show."""
    found = record.detectable
    if found is None:
        return ""
    clusters = _clusters(view)
    pair = {
        "a": a.name,
        "b": b.name,
        "on": say("decision.on", metric=metric) if metric else "",
        "n": numbers.count(view.results.n),
        "clusters": "" if clusters is None else numbers.count(clusters[0]),
    }
    if found.needed is not None:
        return say(
            f"decision.settle_{'questions' if found.unit == 'examples' and at_each(view) else found.unit}",
            **pair,
            needed=numbers.count(found.needed),
            gold="" if found.gold is None else numbers.count(found.gold),
            gap=numbers.to_digits(abs(_observed(view, a, b, metric) or 0.0), 2),
        )
    key = _by_units(
        view,
        "decision.settle_detectable",
        "decision.settle_detectable_questions",
        "decision.settle_detectable_scores",
    )
    key = key if clusters is None else "decision.settle_detectable_clusters"
    return say(key, **pair, size=numbers.to_digits(found.difference, 2))


def _observed(view: View, a: Model, b: Model, metric: str) -> float | None:
    found = conflict(view)
    key = view.primary if not metric or found is None else found.key
    record = comparison_between(view, key, a.id, b.id)
    return None if record is None else record.difference
