"""The decision: a headline, the gates, at most two cautions, the leaderboard, and how many examples would settle it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalreport import numbers
from evalreport.gates.conditions import needs_of, sides
from evalreport.headline import headline, rarest_class
from evalreport.plots.pictures import Figure
from evalreport.questions.attempts.variance_section import at_each
from evalreport.report.cautions import one_of_a_code
from evalreport.report.naming import listed
from evalreport.report.sections import audit, pairs
from evalreport.report.sections.leaderboard import Leaderboard, conflict, leading
from evalreport.report.sections.leaderboard import describe as describe_board
from evalreport.report.view import Model, View, n_cautions
from evalreport.schema.decisions import DetectableRecord, GateRecord, HeadlineRecord, VerdictRecord
from evalreport.schema.lookups import quarter, true_counts
from evalreport.schema.results import Results
from evalreport.schema.warnings import WarningRecord
from evalreport.texts import Message, coded, joined, named, say
from evalreport.texts.visible import visible

MOST_CAUTIONS = 2
OF_SIZE = frozenset({"one_example", "few_examples"})
"""Cautions that little can be shown on so few examples: they come first, as of two models the one of their pair."""
ASKED_FOR = ("no_value_over_attempts",)
"""Answers to what was asked for: they stand first, whatever metric they are about."""
MOST_CROSSING = 3
MOST_PASSES = 6
OF_ALGORITHMS = frozenset({"cross-validation", "5x2cv", "repeated-holdout"})
"""Designs whose verdict is about training again."""
OF_THE_TEST = frozenset(
    {
        "few_flagged",
        "few_clusters",
        "unequal_weights",
        "few_in_time",
        "few_large_losses",
        "few_seeds",
        "judge_favours",
        "few_gold",
        "few_judge_errors",
    }
    | {
        "criteria_changed",
        "short_interval",
        "short_difference_interval",
        "gap_may_be_larger",
        "folds_taken_as_independent",
        "trained_on_test",
    }
)
"""Cautions about the error rate of the verdict's own test or interval: they come first."""
OF_CROSSINGS = frozenset({"verdict.no_overall_winner", "verdict.not_at_every_point"})
OUTCOMES = ("fail", "undecided", "pass")
SAID_FIRST = {
    "headline.counted_as_wrong": "missing_is_wrong",
    "headline.counted_as_wrong_of": "missing_is_wrong",
    "headline.reversed_scores": "worse_than_random",
    "headline.never_found": "class_never_predicted",
    "headline.never_found_by_any": "class_never_predicted",
}
"""Cautions that say no more than a part of the first sentence, by its code; of classes the one that it names."""
ALARMS = frozenset({"slice_fell", "worse_than_accepted", "data_changed"})
"""Cautions that the headline of an audit says."""
TONES = {"bad": "alarm", "undecided": "amber", "good": "quiet", "neutral": ""}
"""The colour of the frame by the tone of the headline."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: its outcome and the word for it, its subject, the value that was found, and the bar it needs."""

    outcome: str
    word: str
    subject: str
    found: str
    bar: str
    text: str
    exploratory: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The first screen; ``tone`` is the colour of its frame: alarm, amber, quiet, or none; ``by_code`` its cautions.

    An audit shows its series as ``figure``, and of one model no board. After an audit without an alarm the rest of
    the page is folded (``folds_rest``).
    """

    headline: str
    about: str
    tone: str
    gates: tuple[Gate, ...]
    passed: int
    by_code: Mapping[str, str]
    all_cautions: int
    figure: Figure | None
    board: Leaderboard | None
    pair: str
    settle: str
    folds_rest: bool = False

    @property
    def cautions(self) -> tuple[str, ...]:
        """The cautions that it shows."""
        return tuple(self.by_code.values())


def describe(view: View) -> Decision:
    """Describe the first screen."""
    first = headline_of(view.results)
    gates = gates_of(view)
    few = len(gates) <= MOST_PASSES
    figure = audit.describe_nights(view)
    n_all = n_cautions(view.results.warnings)
    calm = first.tone == "good" and bool(view.results.audit)
    cautions = {} if calm else _cautions(view)
    shown, open_pair = dict(list(cautions.items())[:MOST_CAUTIONS]), _open(view)
    return Decision(
        headline=visible(first.text),
        about=about(view),
        tone=TONES[first.tone],
        gates=tuple(gate for gate in gates if few or gate.outcome != "pass"),
        passed=0 if few else sum(gate.outcome == "pass" for gate in gates),
        by_code=shown,
        all_cautions=n_all if shown and n_all > len(shown) else 0,
        figure=figure,
        board=None if figure is not None and len(view.models) == 1 else describe_board(view),
        pair=pairs.of_the_only_pair(view),
        settle="" if calm or open_pair is None else _needed(view, *open_pair[:3], metric=open_pair[3]),
        folds_rest=calm or first.code == "no_alarm",
    )


def headline_of(results: Results) -> HeadlineRecord:
    """Return the headline of results; of records that were put together without one, what the rules say."""
    return results.headline or headline(results)


# --- the line below the headline -------------------------------------------------------------------------------------


def _n_fits(view: View) -> int:
    return len({(fold.repeat, fold.fold) for fold in view.results.folds})


def about(view: View) -> str:
    """Say in one line how many examples, which look of an audit, which design, and what models are ranked by."""
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
            if view.weights_note
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
    if parts and results.options.get("order"):
        parts[0] += ", " + say("decision.in_time")
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
    if len(view.models) > 1 and view.is_ranked:
        because = results.primary_because
        words = view.ranked_words
        if results.declared is not None and any(record.exploratory for record in results.verdicts):
            words = say("decision.exploratory", what=words)
        ranked = say("decision.ranked_by", metric=words)
        parts.append(ranked if because is None else say("decision.because", ranked=ranked, why=because))
    if len(view.models) > 1 and not scores:
        same = say(f"decision.same_{'questions' if attempts else 'examples'}")
        parts.append(say("decision.own_examples") if results.options.get("join") == "independent" else same)
    parts += filter(None, (look_words(view), declared_words(view)))
    if results.audit:
        parts[1:1] = [say("audit.look", look=results.audit[0].look, run=results.audit[0].run)]
    return " · ".join(parts)


def look_words(view: View) -> str:
    """Say which look this is and its level, where the comparison may be repeated."""
    looks = view.results.looks
    if looks is None:
        return ""
    return say("decision.look", look=looks.look, looks=looks.looks, level=numbers.level(looks.level))


def declared_words(view: View) -> str:
    """Say when the criteria were declared, and whether anything was changed since; nothing without criteria."""
    declared = view.results.declared
    if declared is None:
        return ""
    key = "decision.changed" if declared.changed else "decision.declared"
    return say(key, date=declared.date, n=len(declared.changed))


def _clusters(view: View) -> tuple[int, float] | None:
    """Return the number of clusters and their effective number, under ``--cluster``."""
    if not view.results.options.get("cluster"):
        return None
    records = ((r.clusters, r.clusters_effective) for r in view.results.metrics if r.slice is None)
    return next(((n, effective) for n, effective in records if n and effective), None)


# --- gates and cautions ---------------------------------------------------------------------------------------------


def gates_of(view: View) -> list[Gate]:
    """Return the gates, failures first."""
    gates = []
    for gate in sorted(view.results.gates, key=lambda gate: OUTCOMES.index(gate.outcome)):
        subject, sign, bar = sides(gate.gate)
        value_text = "" if gate.value is None else numbers.to_digits(gate.value, 4)
        if None not in (gate.value, gate.low, gate.high):
            value_text = _with_limits(gate)
        # Models are called as in the condition that was typed, so that it can be typed again.
        bar = visible(needs_of(sign, bar)) if sign else ""
        word, text = named("gate", gate.outcome), view.text(gate.text)
        gates.append(Gate(gate.outcome, word, visible(subject), value_text, bar, text, gate.exploratory))
    return gates


def caution_text(view: View, warning: WarningRecord) -> str:
    """Write a warning as the first screen does: with short names, and of curves that cross those of contenders."""
    crossing = _crossing(view) if warning.code == "curves_cross" else []
    if not crossing:
        return view.text(warning.text)
    if len(crossing) > MOST_CROSSING:
        crossing[MOST_CROSSING:] = [say("list.more_pairs", n=len(crossing) - MOST_CROSSING)]
    return say("warning.curves_cross.clearly", pairs=crossing)


def _crossing(view: View) -> list[str]:
    """Name the pairs of contenders of which each is shown to be ahead somewhere on the curves."""
    contenders = {m.id for m in leading(view)}
    return [
        listed([view.model(m).name for m in (r.a, r.b)])
        for r in view.results.dominance
        if r.decided and {r.a, r.b} <= contenders
    ]


def _with_limits(gate: GateRecord) -> str:
    """Write a gate's value and its interval with the same decimals."""
    decimals = numbers.decimals_of([quarter(gate.low, gate.high)])
    excluded = 0.0 if any(coded(part)[0] == "gates.value_by_test" for part in joined(gate.text)) else None
    limits = numbers.interval(gate.low, gate.high, decimals, excluded=excluded)
    return f"{numbers.number(gate.value, decimals)} {limits}"


def _cautions(view: View) -> dict[str, str]:
    """Return what limits the verdict by its code, the gravest first; nothing about models alone that are behind."""
    contenders = {m.id for m in leading(view)}
    known, differ = {m.id for m in view.models}, conflict(view) is not None
    texts = {str(i): text for i, text in enumerate(_crossings(view))}
    of_size = OF_SIZE | ({"few_discordant"} if len(view.models) == 2 else set())
    order = sorted(
        view.results.warnings,
        key=lambda w: (
            w.level != "blocker",
            w.code not in ASKED_FOR,
            w.code not in of_size,
            w.code not in OF_THE_TEST,
        ),
    )
    relevant, said = [], _said_first(view)
    for warning in order:
        named_models = known & set(warning.about)
        always = warning.level == "blocker" or warning.code in ("metrics_disagree", *ASKED_FOR)
        left_out = (
            warning.code in said and (not said[warning.code] or said[warning.code] in warning.about),
            # It changes no reading of the verdict,
            warning.level == "info"
            or warning.code in ALARMS
            or (named_models and not named_models & contenders),
            # is about another metric, about the curves of others, or said by the headline.
            not always and _about_others(view, warning),
            warning.code == "curves_cross" and not _crossing(view),
            warning.code == "metrics_disagree" and differ,
        )
        if not any(left_out):
            relevant.append(warning)
    # Of whom else a sentence is true is said, also of models that are clearly behind.
    codes = {(w.code, w.level) for w in relevant}
    others = [w for w in order if (w.code, w.level) in codes and w not in relevant and known & set(w.about)]
    for warning in one_of_a_code((*relevant, *others), lambda w: caution_text(view, w)):
        texts.setdefault(warning.code, str(warning.text))
    return texts


def _said_first(view: View) -> dict[str, str]:
    """Return the codes of cautions that the first sentence says already, with the class that it is about, if any."""
    return {
        SAID_FIRST[message.code]: str(message.params.get("label", ""))
        for message in _messages(headline_of(view.results).text)
        if message.code in SAID_FIRST
    }


def _messages(text: object) -> Iterator[Message]:
    """Yield a message and all messages in its parameters."""
    if isinstance(text, Message):
        yield text
        for value in text.params.values():
            yield from _messages(value)
    elif isinstance(text, (tuple, list)):
        for part in text:
            yield from _messages(part)


def _crossings(view: View) -> list[str]:
    """Return what the first model's verdicts say of curves that cross: no model is then ahead everywhere."""
    crossings = []
    for model in leading(view)[1:2] if view.results.baseline is None else ():
        record = view.verdict(view.models[0].id, model.id)
        parts = joined(record.text) if record is not None else ()
        crossings += [view.text(part) for part in parts if coded(part)[0] in OF_CROSSINGS]
    return crossings


def _about_others(view: View, warning: WarningRecord) -> bool:
    """Return whether a warning is about metrics, none of which the verdict is about."""
    keys, names = view.keys, set(warning.about) - {m.id for m in view.models}
    metrics = {name for name in names if view.called(name) in keys}
    return bool(metrics) and view.results.shown_metric not in metrics


# --- what would settle it -------------------------------------------------------------------------------------------

OUT_OF_REACH = 20.0
"""More than this many times as many examples as there are is more than anybody will have."""


def _open(view: View) -> tuple[Model, Model, VerdictRecord, str] | None:
    """Return the foremost open pair, its verdict, and the metric where that is the second one."""
    found = conflict(view)
    if found is None:
        pair = _foremost_open(view, view.models)
        return None if pair is None else (*pair, "")
    behind = {model.id for model in found.behind}
    for model in leading(view):
        if model is not found.best and model.id not in behind:
            record = view.verdict(found.best.id, model.id, view.results.second_verdicts)
            if record is not None and record.verdict == "undecided":
                return found.best, model, record, found.words
    return None


def second_look_words(view: View) -> str:
    """Say what another look at more examples takes where none was declared; nothing where no pair is open."""
    results, open_pair = view.results, _open(view)
    detectable = None if open_pair is None else open_pair[2].detectable
    if results.looks is not None or results.audit or results.history or detectable is None:
        return ""  # an audit counts its own looks
    if detectable.second_look is None or detectable.needed is None:
        return ""
    alpha = numbers.percent(round(1 - view.confidence, 10))
    return say("decision.second_look", alpha=alpha, error=numbers.rate(detectable.second_look))


def _foremost_open(view: View, models: Sequence[Model]) -> tuple[Model, Model, VerdictRecord] | None:
    if view.results.baseline is not None:
        baseline = view.model(view.results.baseline)
        others = [(m, baseline) for m in models if m is not baseline]
    else:
        others = [(models[0], m) for m in leading(view)[1:]]
    for a, b in others:
        record = view.verdict(a.id, b.id)
        if record is not None and record.verdict in ("undecided", "non-inferior"):
            return a, b, record
    return None


def _needed(view: View, a: Model, b: Model, record: VerdictRecord, *, metric: str) -> str:
    """Say how many examples would show the observed difference, or which difference these examples would show."""
    detectable = record.detectable
    if detectable is None:
        return ""
    clusters = _clusters(view)
    pair = {
        "a": a.name,
        "b": b.name,
        "on": say("decision.on", metric=metric) if metric else "",
        "n": numbers.count(view.results.n),
        "clusters": "" if clusters is None else numbers.count(clusters[0]),
    }
    second = conflict(view) if metric else None
    observed = view.comparison(view.primary if second is None else second.key, a.id, b.id)
    gap = numbers.to_digits(abs(0.0 if observed is None else observed.difference or 0.0), 2)
    if detectable.needed is None:
        of = "_scores" if view.results.task == "scores" else "_questions" if at_each(view) else ""
        if clusters is not None:
            of = "_clusters"
        elif view.results.options.get("join") == "independent":
            of = "_two_sets"
        size = numbers.to_digits(detectable.difference, 2)
        shown = say(f"decision.settle_detectable{of}", **pair, size=size)
        folds = view.results.design in OF_ALGORITHMS
        return f"{shown} {say('decision.settle_not_over_folds')}" if folds else shown
    unit: str = "two_sets" if detectable.of_each is not None else detectable.unit
    drawn = float(_n_fits(view) or view.results.n) if detectable.unit == "datasets" else float(view.results.n)
    if detectable.unit == "clusters" and clusters is not None:
        drawn = clusters[0]
    if detectable.needed > OUT_OF_REACH * drawn:
        needed = numbers.rounded_count(detectable.needed)
        unit_words = say(f"decision.unit_{unit}")
        text = say("decision.settle_out_of_reach", **pair, needed=needed, unit=unit_words, gap=gap)
    else:
        if unit == "examples" and at_each(view):
            unit = "questions"
        if detectable.of_each is not None:
            sizes = detectable.of_each if record.about[0] == a.id else detectable.of_each[::-1]
            pair |= dict(zip(("of_a", "of_b"), map(numbers.count, sizes), strict=True))
        gold = "" if detectable.gold is None else numbers.count(detectable.gold)
        needed = numbers.count(detectable.needed)
        rare = _of_a_rare_class(view, detectable, pair, gap)
        text = rare or say(f"decision.settle_{unit}", **pair, needed=needed, gold=gold, gap=gap)
    return " ".join(filter(None, (text, _cost_of_a_look(view, detectable))))


def _of_a_rare_class(view: View, detectable: DetectableRecord, pair: Mapping[str, str], gap: str) -> str:
    """Say how many examples, and how many of a rare class among them, are needed; empty where no class limits."""
    rare = rarest_class(view)
    if rare is None or detectable.needed is None or detectable.unit != "examples" or detectable.of_each:
        return ""
    label, n = rare
    events = detectable.needed * n / view.results.n
    return say(
        "decision.settle_rare", **pair, needed=detectable.needed, events=events, label=visible(label), gap=gap
    )


def _cost_of_a_look(view: View, found: DetectableRecord) -> str:
    """Say what of the looks that were declared another one takes."""
    results, look = view.results, view.results.looks
    if look is None or results.audit or results.history:
        return ""
    left = len(look.planned)
    if look.n_max is not None and found.needed is not None and found.needed > look.n_max:
        return say("decision.beyond_declared", n=numbers.count(look.n_max))
    return say("decision.looks_left", n=left, of=look.looks) if left else say("decision.no_look_left")
