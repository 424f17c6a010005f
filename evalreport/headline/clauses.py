"""Clauses about the models of a run: what is left out, was asked by name, turns the order round or decides it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalreport import numbers
from evalreport.engine.distributions import t_quantile
from evalreport.headline.degenerate import differ, labels_are_given
from evalreport.headline.facts import Facts, Limited, Pair, number_of, rows_on, values_beside
from evalreport.headline.lead import MOST_NAMES, OF_RUNS, Lead
from evalreport.headline.models import values_are_shown
from evalreport.metrics.registry import METRICS, Quantity
from evalreport.questions.calibration.findings import calibration_findings
from evalreport.schema.decisions import TaskVerdictRecord
from evalreport.schema.metrics import Slice
from evalreport.texts import Message, coded, joined, shortened
from evalreport.texts.visible import visible

LARGE_BIAS = 0.25
"""A bias of this share of the RMSE is worth a clause."""
MOST_OF_IT = 0.8
"""A task or slice that makes this share of a difference alone is named."""
HALF = 0.5
"""A single example that makes more than this share of a model's squared error is named."""
LEAST_MISSED = 5
"""A class of fewer examples that a model never names is no clause."""
CLASSES = ("binary", "multiclass")
BESIDE: Mapping[str, tuple[str, ...]] = {
    "binary": ("accuracy", "roc_auc", "balanced_accuracy", "log_loss"),
    "multiclass": ("accuracy", "balanced_accuracy", "log_loss"),
    "regression": ("rmse", "mae"),
    "outcome": ("pass_hat_k",),
}
"""Metrics that may decide a pair the other way, by task."""


def left_out(facts: Facts, lead: Lead) -> Message | None:
    """Say which part of the data is left out, counted as wrong, or another one for each model."""
    if lead.code not in OF_RUNS:
        return None
    results = facts.results
    if results.options.get("join") == "independent" and len(results.models) > 1:
        return Message("headline.own_examples")
    for record in results.found:
        if record.what == "tasks left out":
            return Message("headline.tasks_left_out", why=record.value)
    flow = [f for f in results.flow if f.model is None]
    lost = {f.reason: f.n for f in flow if f.step == "left_out" and f.reason is not None and f.n}
    if lost:
        reason = max(lost, key=lambda r: (lost[r], r))
        total = next((f.n for f in flow if f.step == "read"), results.n + sum(lost.values()))
        key = reason if len(lost) == 1 else "several"
        scores = "left_out_data_sets" if results.design == "datasets" else "left_out_folds"
        unit = scores if results.task == "scores" else "left_out"
        left, wrong = Message(f"headline.{unit}.{key}", n=sum(lost.values()), total=total), _wrong(facts)
        return left if wrong is None else Message("headline.left_out_and_wrong", left_out=left, wrong=wrong)
    if (wrong := _wrong(facts)) is not None:
        return wrong
    if facts.without_value and lead.code != "single":
        return _without_value(facts)
    return None


def _wrong(facts: Facts) -> Message | None:
    """Say how many answers are empty and count as wrong."""
    for warning in facts.results.warnings:
        if warning.code == "missing_is_wrong":
            models = shortened(facts.names(warning.about), MOST_NAMES)
            n = coded(joined(warning.text)[0])[1].get("n")
            key = "counted_as_wrong" if len(warning.about) == 1 else "counted_as_wrong_of"
            return Message(f"headline.{key}", models=models, n=n, total=facts.results.n)
    return None


def _without_value(facts: Facts) -> Message:
    primary, models = facts.quantity, facts.without_value
    scored = {
        r.model for r in facts.results.metrics if r.value is not None and METRICS[r.metric].needs != "labels"
    }
    of_labels = facts.metric(primary).needs != "labels" and not scored & set(models)
    key = "labels_alone" if of_labels and facts.results.confusion else "no_value_of"
    names = shortened(facts.names(models), MOST_NAMES)
    return Message(f"headline.{key}", models=names, n=len(models), metric=facts.words(primary))


# --- what was asked by name


def asked(facts: Facts, lead: Lead) -> Message | None:
    """Name the first metric after the primary one of ``-m`` on which the pair is decided the other way."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS or first is None or second is None or lead.code == "reversed":
        return None
    metrics = facts.results.options.get("metrics", ())
    for name in metrics[1:]:
        quantity = facts.spelled(str(name))
        pair = None if quantity is None else facts.pair(first, second, quantity, metrics=len(metrics))
        if pair is not None and pair.decided and not pair.ahead and pair.by.low is not None:
            return _on_metric(facts, pair)
    return None


# --- where the order turns


def turns_round(facts: Facts, lead: Lead) -> Message | None:
    """Name the tasks or slices in which the order of two models turns round, or that make a lead alone."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS or first is None or second is None or lead.code == "reversed":
        return None
    turning = _task_turns(facts, lead, first, second) or _slice_turns(facts, first, second)
    if turning is None and lead.code == "ahead":
        turning = _task_alone(facts, first, second) or _slice_alone(facts, first, second)
    return turning


def _task_turns(facts: Facts, lead: Lead, first: str, second: str) -> Message | None:
    turned = [
        v for v in _tasks(facts, first, second) if v.verdict == ("worse" if v.about[0] == first else "better")
    ]
    if not turned or lead.code not in ("ahead", "equivalent", "non_inferior"):
        return None
    sizes = tuple(number_of(abs(v.difference or 0.0), _limited(v)) for v in turned[:MOST_NAMES])
    tasks = shortened([visible(v.task) for v in turned], MOST_NAMES)
    return Message("headline.task_turns", model=facts.name(first), n=len(turned), by=sizes, tasks=tasks)


def _tasks(facts: Facts, first: str, second: str) -> list[TaskVerdictRecord]:
    return [v for v in facts.results.task_verdicts if {first, second} == set(v.about)]


def _limited(verdict: TaskVerdictRecord) -> Limited:
    return Limited(verdict.difference or 0.0, verdict.low, verdict.high)


def _task_alone(facts: Facts, first: str, second: str) -> Message | None:
    """Name the one task that makes most of a lead on the mean over tasks."""
    sign = facts.sign(facts.quantity)
    rows = [(sign * v.difference * (1 if v.about[0] == first else -1), v)
            for v in _tasks(facts, first, second) if v.difference is not None]  # fmt: skip
    if len(rows) < 2 or len(rows) != len(facts.results.suite):
        return None
    whole = sum(d for d, _ in rows)
    most, task = max(rows, key=lambda row: (row[0], row[1].task))
    if task.verdict not in ("better", "worse") or whole <= 0 or most < MOST_OF_IT * whole:
        return None
    others, by = len(rows) - 1, number_of(most, _limited(task))
    rest = Message("headline.change_alone_value", value=(whole - most) / others, half=_limited(task).half)
    return Message("headline.task_alone", task=visible(task.task), by=by, n=others, rest=rest)


def _slices(facts: Facts, first: str, second: str) -> list[tuple[float, Slice]]:
    """Return by how much the first of two models is better in each slice that decides, at alpha over all of them."""
    rows = [
        r for r in facts.results.comparisons
        if r.slice is not None and r.recommended and Quantity.of(r) == facts.primary and {r.a, r.b} == {first, second}
        and r.difference is not None
    ]  # fmt: skip
    sign = facts.sign(facts.quantity)
    return [
        (sign * (r.difference or 0.0) * (1 if r.a == first else -1), r.slice)
        for r in rows
        if r.slice is not None and r.p_value is not None and r.p_value * len(rows) <= facts.alpha
    ]


def _slice_turns(facts: Facts, first: str, second: str) -> Message | None:
    loss, turned = facts.loss(facts.quantity), [each for each in _slices(facts, first, second) if each[0] < 0]
    if not turned:
        return None
    by, place = min(turned, key=lambda each: each[0])
    column, name = visible(place.column), facts.name(first)
    values = {
        (r.model, r.slice.value): r
        for r in facts.results.metrics
        if r.slice is not None and r.slice.column == place.column and Quantity.of(r) == facts.quantity
        if r.value is not None
    }

    def value(model: str, within: str) -> Message:
        return number_of(values[model, within].value or 0.0)

    places = sorted({value for _, value in values})
    within = sorted({p.value for _, p in turned if p.column == place.column})
    every = all((m, p) in values for m in (first, second) for p in places)
    if 2 <= len(places) <= MOST_NAMES and places == within and every:
        shown = tuple(
            Message("headline.in_a_place", place=visible(p), a=value(first, p), b=value(second, p))
            for p in places
        )
        key = f"headline.slices_turn{loss}"
        return Message(key, model=name, column=column, n=len(places), values=shown)
    known = {"model": name, "place": f"{column} {visible(place.value)}"}
    if (first, place.value) not in values or (second, place.value) not in values:
        return Message(f"headline.slice_turns_by{loss}", by=number_of(-by), **known)
    a, b = (value(m, place.value) for m in (first, second))
    n = values[first, place.value].n
    return Message(f"headline.slice_turns{loss}", a=a, b=b, other=facts.name(second), n=n, **known)


def _slice_alone(facts: Facts, first: str, second: str) -> Message | None:
    """Name the one slice, less than half of all examples, that makes most of a lead on a mean over examples."""
    primary, n, pair = facts.quantity, facts.results.n, facts.pair(first, second)
    if pair is None or not facts.metric(primary).is_mean or facts.results.options.get("weight"):
        return None
    if facts.results.design != "test-set" or facts.results.suite or pair.by.value <= 0:
        return None
    sizes = {r.slice: r.n for r in facts.results.metrics if r.slice is not None and Quantity.of(r) == primary}
    making = [
        (sizes[place], inside, place)
        for inside, place in _slices(facts, first, second)
        if 0 < 2 * sizes.get(place, 0) < n and sizes[place] * inside >= MOST_OF_IT * n * pair.by.value
    ]
    if not making:
        return None
    size, inside, place = min(making, key=lambda each: each[0])
    rest = (n * pair.by.value - size * inside) / (n - size)
    return Message(
        "headline.slice_alone", place=f"{visible(place.column)} {visible(place.value)}", n=size,
        by=number_of(inside, pair.by),
        rest=Message("headline.change_alone_value", value=rest, half=pair.by.half),
    )  # fmt: skip


# --- classes that nobody names


def never_found(facts: Facts, lead: Lead) -> Message | None:
    """Name the class that the first model never answers, and all models that never do."""
    if (
        lead.code not in OF_RUNS
        or lead.first is None
        or (lead.about and lead.code in ("same_answers", "reversed"))
    ):
        return None
    missed = {m: _missed(facts, m) for m in facts.results.models}
    own = missed[lead.first]
    if not own:
        return None
    label = max(own, key=lambda c: (own[c], c))
    models = [m for m in facts.results.models if label in missed[m]]
    known = {"label": visible(label), "of": int(own[label])}
    if len(models) == len(missed) > 1:
        return Message("headline.never_found_by_any", n=len(models), number=len(models), **known)
    return Message(
        "headline.never_found", models=shortened(facts.names(models), MOST_NAMES), n=len(models), **known
    )


def one_score_of_second(facts: Facts, lead: Lead) -> Message | None:
    """Say that the model that is behind gives every example the same score."""
    second, primary = lead.second, facts.quantity
    if lead.code != "ahead" or second is None or len(facts.ranked) != 2:
        return None
    flat = {m for w in facts.results.warnings if w.code == "constant_scores" for m in w.about}
    if second not in flat or facts.metric(primary).needs not in ("scores", "probabilities"):
        return None
    return Message("headline.one_score", names=(facts.name(second),), n=1, examples=facts.results.n)


def never_found_by_second(facts: Facts, lead: Lead) -> Message | None:
    """Name the class that the model that is behind never answers, where the one that is ahead finds it."""
    if lead.code != "ahead" or lead.first is None or lead.second is None or len(facts.ranked) != 2:
        return None
    found = _missed(facts, lead.first)
    own = {c: n for c, n in _missed(facts, lead.second).items() if c not in found}
    if not own:
        return None
    label = max(own, key=lambda c: (own[c], c))
    known = {"label": visible(label), "of": int(own[label])}
    return Message("headline.never_found", models=(facts.name(lead.second),), n=1, **known)


def _missed(facts: Facts, model: str) -> dict[str, float]:
    """Return the classes, of five examples or more, that a model with labels of its own never finds."""
    results = facts.results
    if results.task not in ("binary", "multiclass") or not labels_are_given(facts, model):
        return {}
    truth: dict[str, float] = {}
    hits: set[str] = set()
    for cell in results.confusion:
        if cell.model == model:
            truth[cell.true] = truth.get(cell.true, 0.0) + cell.count
            if cell.true == cell.predicted and cell.count:
                hits.add(cell.true)
    return {c: n for c, n in truth.items() if n >= LEAST_MISSED and c not in hits}


# --- other metrics


def otherwise(facts: Facts, lead: Lead) -> Message | None:
    """Name another metric on which the pair is decided the other way, or at all where the primary one is open."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS or first is None or second is None or lead.code == "reversed":
        return None
    names = [n for n in BESIDE.get(facts.results.task, ()) if n != facts.quantity.metric]
    usual = facts.results.usual_metric
    if usual in names:
        names = [usual, *(n for n in names if n != usual)]
    quantities = [facts.overall(name) for name in names]
    if facts.results.task == "outcome":
        quantities += facts.at_attempts
    decided: list[Pair] = []
    for quantity in quantities:
        if quantity is None:
            continue
        of_labels = facts.metric(quantity).needs == "labels"
        if of_labels and not all(labels_are_given(facts, m) for m in (first, second)):
            continue
        pair = facts.pair(first, second, quantity, metrics=1 + sum(q is not None for q in quantities))
        if pair is not None and pair.decided and pair.by.low is not None:
            decided.append(pair)
    alike = _same_ranking(facts, lead)
    if alike is not None:
        return alike
    against = [p for p in decided if not p.ahead]
    nothing_decided = lead.code in ("undecided", "same_answers", "equivalent", "no_skill")
    if against:
        cause = _level_off(facts, against[0]) if nothing_decided else None
        return cause or _on_metric(facts, against[0])
    if usual and lead.code == "ahead":
        unlike = _not_on_the_usual(facts, first, second, usual)
        if unlike is not None:
            return unlike
    if nothing_decided and decided:
        return _level_off(facts, decided[0]) or _on_metric(facts, decided[0])
    return None


def _level_off(facts: Facts, pair: Pair) -> Message | None:
    """Say that the probabilities of the model behind are too high or too low, where the other one's are not off."""
    if facts.metric(pair.quantity).needs != "probabilities" or len(facts.ranked) != 2:
        return None
    behind, other = (pair.second, pair.first) if pair.ahead else (pair.first, pair.second)
    of_model = {f.record.model: f for f in calibration_findings(facts.results) if f.record.label is None}
    if behind not in of_model or other not in of_model or of_model[other].kind != "none":
        return None
    kind, record = of_model[behind].kind, of_model[behind].record
    if kind not in ("too_high", "too_low"):
        return None
    shares = {"predicted": record.expected / record.n_weighed, "observed": record.observed / record.n_weighed}
    return Message(f"headline.probabilities_{kind}", model=facts.name(behind), **shares)


def _not_on_the_usual(facts: Facts, first: str, second: str, usual: str) -> Message | None:
    """Say that the metric which the run would have had by itself does not show the difference."""
    quantity = facts.overall(usual)
    pair = None if quantity is None else facts.pair(first, second, quantity)
    if pair is None or quantity is None or not pair.by.holds(0.0):
        return None
    if facts.metric(quantity).needs == "labels" and not all(
        labels_are_given(facts, m) for m in (first, second)
    ):
        return None
    a, b = (facts.value(m, quantity) or Limited(0.0) for m in (first, second))
    key = "not_on" if values_are_shown(facts, pair, a, b) else "not_on_by"
    names = {"metric": facts.words(quantity), "first": facts.name(first), "second": facts.name(second)}
    return Message(f"headline.{key}", **names, **values_beside(a.value, b.value, pair.by))


def _on_metric(facts: Facts, pair: Pair) -> Message:
    if not pair.ahead:
        pair = facts.turned(pair)
    a, b = (facts.value(m, pair.quantity) or Limited(0.0) for m in (pair.first, pair.second))
    others = (facts.pair(pair.first, m, pair.quantity) for m in facts.ranked if m != pair.first)
    alike = [p.second for p in others if p is not None and _shown(facts, p) == _shown(facts, pair)]
    key = f"on_metric{facts.loss(pair.quantity)}" + ("" if values_are_shown(facts, pair, a, b) else "_by")
    return Message(
        f"headline.{key}", metric=facts.words(pair.quantity), first=facts.name(pair.first),
        second=facts.names(alike) if alike[1:] else facts.name(pair.second), **values_beside(a.value, b.value, pair.by),
    )  # fmt: skip


def _shown(facts: Facts, pair: Pair) -> list[float]:
    """Return the second model's value and the difference with its limits, to the digits that are shown."""
    b = facts.value(pair.second, pair.quantity) or Limited(0.0)
    known = (x for x in (b.value, pair.by.value, pair.by.low, pair.by.high) if x is not None)
    return [numbers.shown(x, pair.by.half)[0] for x in known]


def _same_ranking(facts: Facts, lead: Lead) -> Message | None:
    """Say that two models rank alike, so that the labels of one are better by its threshold alone."""
    auc = facts.overall("roc_auc")
    if lead.code != "ahead" or lead.first is None or lead.second is None:
        return None
    if auc is None or facts.metric(facts.quantity).needs != "labels":
        return None
    row = next((r for r in rows_on(facts.results, auc) if {r.a, r.b} == {lead.first, lead.second}), None)
    loss = facts.overall("log_loss")
    same_loss = loss is None or not differ(facts, loss)
    if row is None or row.difference != 0 or row.low or row.high or not same_loss:
        return None
    return Message("headline.same_ranking", first=facts.name(lead.first), second=facts.name(lead.second))


def two_alike(facts: Facts, lead: Lead) -> Message | None:
    """Say that two models which are not told apart give the same answers, where others do not."""
    first, second = lead.first, lead.second
    if lead.code == "ahead" and facts.ranked[1:]:
        first, second = facts.ranked[:2]
    if lead.code not in ("ahead", "undecided") or first is None or second is None:
        return None
    if facts.results.task not in CLASSES:
        return None
    pair = {first, second}
    shared = [r for r in facts.results.agreement if {r.a, r.b} == pair]
    compared = [r for r in facts.results.comparisons if r.slice is None and {r.a, r.b} == pair]
    if not shared or any(r.only_a or r.only_b for r in shared):
        return None
    if any(r.difference not in (None, 0.0) for r in compared):
        return None
    return Message("headline.two_alike", first=facts.name(first), second=facts.name(second))


def opposite_attempts(facts: Facts, lead: Lead) -> Message | None:
    """Say that the metric of all attempts has the other order, where that is not decided."""
    first, second = lead.first, lead.second
    if lead.code not in OF_RUNS - {"same_answers"} or first is None or second is None:
        return None
    of_primary = facts.pair(first, second)
    if of_primary is None or of_primary.by.value < 0:
        return None
    for quantity in facts.at_attempts:
        a, b = (facts.value(m, quantity) for m in (first, second))
        pair = facts.pair(first, second, quantity)
        if a is None or b is None or pair is None or quantity == facts.primary:
            continue
        if not pair.decided and pair.by.value < 0:
            return Message(
                "headline.opposite_open", metric=facts.words(quantity), model=facts.name(second),
                a=number_of(b.value, pair.by), b=number_of(a.value, pair.by),
            )  # fmt: skip
    return None


# --- what could be removed: a bias, one example


def biased(facts: Facts, lead: Lead) -> Message | None:
    """Say that a model would be ahead without its bias, or which models predict too high or too low."""
    rmse, first, second = facts.overall("rmse"), lead.first, lead.second
    if lead.code not in OF_RUNS or lead.code == "same_answers" or rmse is None or first is None:
        return None
    large = {m: b for m in facts.ranked if (b := _large_bias(facts, m, rmse)) is not None}
    pair = None if second is None else facts.pair(first, second, rmse)
    if second in large and pair is not None and pair.by.value > 0:
        assert second is not None
        spread, smallest = _without_bias(facts, second, rmse), _without_bias(facts, first, rmse)
        if spread < smallest:
            return Message(
                f"headline.{_side(large[second])}_loses", model=facts.name(second), other=facts.name(first),
                by=_bias(large[second]), spread=number_of(spread, large[second]),
            )  # fmt: skip
    if first not in large and not (second in large and len(facts.ranked) == 2):
        return None
    alike = [m for m, b in large.items() if (b.value > 0) == (large.get(first, b).value > 0)]
    if len(alike) > MOST_NAMES:
        alike = [first]
    side, by = _side(large[alike[0]]), tuple(_bias(large[m]) for m in alike)
    if len(alike) == len(facts.ranked) == 2:
        return Message(f"headline.{side}_both", by=by)
    return Message(f"headline.{side}", models=facts.names(alike), n=len(alike), by=by)


def _large_bias(facts: Facts, model: str, rmse: Quantity) -> Limited | None:
    """Return a model's bias where it is shown, at alpha over all models, and a good part of the RMSE."""
    quantity = facts.overall("bias_error")
    record = None if quantity is None else facts.record(model, quantity)
    bias = None if quantity is None else facts.value(model, quantity)
    size = facts.value(model, rmse)
    if record is None or bias is None or bias.half is None or size is None:
        return None
    one, all_of_them = (1 - facts.alpha / (2 * m) for m in (1, len(facts.ranked)))
    df = max((record.clusters or record.n) - 1, 1)
    half = bias.half * t_quantile(all_of_them, df) / t_quantile(one, df)
    return bias if abs(bias.value) > max(half, LARGE_BIAS * size.value) else None


def _without_bias(facts: Facts, model: str, rmse: Quantity) -> float:
    """Return the RMSE of a model after its mean error is taken off every prediction."""
    quantity, size = facts.overall("bias_error"), facts.value(model, rmse)
    bias = None if quantity is None else facts.value(model, quantity)
    assert size is not None
    return math.sqrt(max(size.value**2 - (0.0 if bias is None else bias.value**2), 0.0))


def _side(bias: Limited) -> str:
    return "too_high" if bias.value > 0 else "too_low"


def _bias(bias: Limited) -> Message:
    return number_of(abs(bias.value), bias)


def one_example(facts: Facts, lead: Lead) -> Message | None:
    """Name the models of whose squared error a single example makes more than half."""
    square, worst = facts.overall("mse"), facts.overall("max_error")
    if lead.code not in OF_RUNS or lead.code == "same_answers" or square is None or worst is None:
        return None
    of_squares = facts.metric(facts.quantity).from_squares is not None
    if not of_squares or facts.results.options.get("weight"):
        return None
    shares: dict[str, float] = {}
    for model in (lead.first, lead.second):
        size, most = (None if model is None else facts.value(model, q) for q in (square, worst))
        if model is not None and size is not None and most is not None and size.value > 0:
            shares[model] = most.value**2 / (size.value * facts.results.n)
    model = max(shares, key=lambda m: (shares[m], m), default=None)
    if model is None or shares[model] <= HALF or facts.results.design != "test-set":
        return None
    return Message(
        "headline.one_example", model=facts.name(model), share=min(shares[model], 1.0), n=facts.results.n
    )
