"""Leads about data or answers that leave nothing to compare: no verdict, the same answers, all wrong, turned round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from evalreport.headline.facts import Facts, Limited, all_equal, amount, number_of, rows_on
from evalreport.headline.lead import MOST_NAMES, Lead, units, value_of
from evalreport.metrics.registry import Quantity
from evalreport.schema import lookups
from evalreport.schema.results import Results
from evalreport.texts import Message, Text, coded, joined, shortened
from evalreport.texts.visible import visible

FEWEST_DATASETS = 6
"""With fewer data sets no exact test reaches 0.05."""
SAME = {"regression": "predictions", "outcome": "outcomes", "sums": "sums"}
"""What is the same, by the task; else answers."""
LEAST_CONSTANT = 5
"""With fewer examples one answer to all of them is nothing to speak of."""
CHANCE = 0.5
"""ROC AUC and balanced accuracy of a guess, of two classes."""
LEAST_SWAPPED = 10
"""With fewer examples all may be wrong by chance."""


def blocked(facts: Facts) -> Lead | None:
    """Say that there is no verdict, and why: a blocker, or a primary metric that no test decides."""
    blockers = [w for w in facts.results.warnings if w.level == "blocker"]
    primary = facts.primary
    if blockers:
        return _no_verdict(_why_blocked(facts, blockers[0].code, blockers[0].text))
    if primary is None:
        of_sets = facts.results.task == "sets"
        return _no_verdict(Message("headline.no_primary_of_sets" if of_sets else "headline.no_primary"))
    if not facts.ranked:
        return _no_verdict(_no_value(facts, primary))
    if len(facts.ranked) > 1 and facts.without_a_test:
        values = _values(facts)
        return _no_verdict(Message("headline.no_test", metric=facts.words(primary), values=values))
    without_limits = all(pair.by.low is None for pair in facts.pairs)
    if len(facts.ranked) > 1 and without_limits and not _alike(facts) and not _alike_in_scores(facts):
        return _no_verdict(_cause_in_the_data(facts))
    return None


def _no_value(facts: Facts, primary: Quantity) -> Message:
    """Say that no model has a value of the primary metric, and why where one reason is that of all."""
    records = [facts.record(model, primary) for model in facts.results.models]
    reasons = {
        str(record.reason): record.reason for record in records if record is not None and record.reason
    }
    if len(reasons) != 1:
        return Message("headline.no_value", metric=facts.words(primary))
    return Message("headline.no_value_why", metric=facts.words(primary), reason=next(iter(reasons.values())))


def _no_verdict(reason: Text) -> Lead:
    return Lead("blocked", Message("headline.no_verdict", reason=reason), tone="undecided")


def _why_blocked(facts: Facts, code: str, text: Text) -> Text:
    if code == "trained_on_test":
        n = coded(joined(text)[0])[1].get("n")
        models = facts.names(facts.results.models)
        return Message("headline.trained_on_test", n=n, of=facts.results.n, models=models)
    if code == "gold_not_random":
        return Message("headline.gold_not_random")
    return Message("headline.because", text=str(text).rstrip("."))


def _values(facts: Facts) -> tuple[Message, ...]:
    """Return the values of the first models, and how many others there are."""
    values = tuple(
        Message("headline.model_value", model=facts.name(m), value=amount(value_of(facts, m)))
        for m in facts.ranked[:MOST_NAMES]
    )
    others = len(facts.ranked) - len(values)
    return (*values, Message("headline.and_more", n=others)) if others else values


def _cause_in_the_data(facts: Facts) -> Message:
    """Say what the data lack for an interval of any difference of the primary metric."""
    results, primary = facts.results, facts.quantity
    values = _values(facts)
    counts = lookups.true_counts(results)
    rare = min(counts, key=lambda c: (counts[c], c), default=None)
    if results.design == "datasets":
        n = len({(f.repeat, f.fold) for f in results.folds}) or results.n
        if n < FEWEST_DATASETS and len(facts.ranked) == 2:
            first, second = facts.ranked
            wins, of = facts.wins(first, second)
            a, b = (number_of(value_of(facts, m).value, value_of(facts, first)) for m in (first, second))
            return Message(
                "headline.few_datasets_of_two", number=n, metric=facts.words(primary), first=facts.name(first),
                wins=wins, of=of, a=a, b=b,
            )  # fmt: skip
        if n < FEWEST_DATASETS:
            return Message("headline.few_datasets", number=n, metric=facts.words(primary), values=values)
    elif results.task in ("binary", "multiclass") and rare is not None and counts[rare] == 1:
        return Message(
            "headline.one_of_a_class",
            label=visible(rare),
            of=results.n,
            metric=facts.words(primary),
            values=values,
        )
    why = next((r.reason for r in rows_on(results, primary) if r.reason is not None), None)
    if why is not None:
        return Message(
            "headline.no_interval_why",
            units=units(facts),
            why=why,
            metric=facts.words(primary),
            values=values,
        )
    return Message("headline.no_interval", units=units(facts), metric=facts.words(primary), values=values)


# --- the same answers


def same_answers(facts: Facts) -> Lead | None:
    """Say that all models give the same answers, or are right and wrong on the same examples."""
    models, primary = facts.ranked, facts.quantity
    if len(models) < 2:
        return None
    params = {
        "names": _named(facts, models),
        "n": facts.results.n,
        "metric": facts.words(primary),
        "value": amount(value_of(facts, models[0])),
    }
    kind = SAME.get(facts.results.task, "answers") if _alike(facts) else _alike_in_scores(facts)
    if kind:
        key = f"same_{kind}" if len(models) <= MOST_NAMES else f"all_same_{kind}"
        return Lead(
            "same_answers", Message(f"headline.{key}", number=len(models), **params), models[0], models[1]
        )
    apart = any(r.only_a or r.only_b for r in facts.results.agreement)
    if len(models) == 2 and facts.results.agreement and not apart and not differ(facts, primary):
        return Lead("same_answers", Message("headline.same_labels", **params), models[0], models[1])
    return None


def _named(facts: Facts, models: Sequence[str]) -> object:
    return shortened(facts.names(models), MOST_NAMES)


def _alike(facts: Facts) -> bool:
    """Whether all models give the same answers: equal on every metric and on every example.

    Of intervals, sets and groupings the results hold metrics only, which may be equal where the answers are not.
    """
    results, primary = facts.results, facts.primary
    if results.design == "datasets" or results.options.get("join") == "independent":
        return False
    if results.task in ("intervals", "sets", "clustering"):
        return False
    compared = [r for r in results.comparisons if r.recommended and r.slice is None and r.b is not None]
    values = [r.value for r in results.metrics if r.slice is None and Quantity.of(r) == primary]
    return (
        bool(compared)
        and all(r.difference in (None, 0.0) for r in compared)
        and not any(r.only_a or r.only_b for r in results.agreement)
        and (results.task not in ("binary", "multiclass") or bool(results.agreement) or _same_labels(facts))
        and not (results.task in ("regression", "outcome") and results.disagreements)
        # Totals may be equal by chance; a difference has no limits where the sums of every unit are the same.
        and not (results.task == "sums" and any(r.low is not None for r in compared))
        and all_equal(values)
    )


def _same_labels(facts: Facts) -> bool:
    """Whether a metric of labels decides, and all models give the same label to every example.

    Of several classes in counts that is not known.
    """
    results = facts.results
    if facts.metric(facts.quantity).needs != "labels":
        return False
    whole = next((u for u in results.unanimity if u.label is None), None)
    if whole is None or whole.all_right + whole.all_wrong < whole.n:
        return False
    counted = any(record.what == "counts" for record in results.found)
    return results.task == "binary" or not (results.disagreements or counted)


def _alike_in_scores(facts: Facts) -> Literal["probabilities", "order"] | None:
    """Say in what all models of two classes are the same on every example where labels are not known to be.

    A difference of areas under the ROC curve, or of losses, does not vary where it is the same, 0, on every example.
    """
    results, primary = facts.results, facts.quantity
    if results.task != "binary":
        return None

    def same_on_every_example(name: str) -> bool:
        rows = [r for r in rows_on(results, Quantity(name)) if r.b is not None]
        return bool(rows) and all(
            r.difference == 0
            and r.reason is not None
            and coded(joined(r.reason)[0])[0] == "limits.no_variation"
            for r in rows
        )

    if not same_on_every_example(primary.metric):
        return None
    if same_on_every_example("log_loss"):
        return "probabilities"
    return "order" if facts.metric(primary).is_auc else None


def differ(facts: Facts, quantity: Quantity) -> bool:
    """Say whether any two models differ on a metric."""
    return any(r.difference != 0 for r in rows_on(facts.results, quantity))


def _answers(facts: Facts) -> dict[str, dict[tuple[str, str], float]]:
    """Return how often each model that gives labels of its own answers what, by (truth, answer)."""
    answers: dict[str, dict[tuple[str, str], float]] = {}
    if facts.results.task in ("binary", "multiclass"):
        for cell in facts.results.confusion:
            if cell.count and labels_are_given(facts, cell.model):
                answers.setdefault(cell.model, {})[cell.true, cell.predicted] = cell.count
    return answers


def labels_are_given(facts: Facts, model: str) -> bool:
    """Say whether a model's labels are its own, or those of a threshold that was named."""
    return facts.results.options.get("threshold") is not None or model not in facts.results.labels_at_half


def _of_scores(facts: Facts, quantity: Quantity) -> bool:
    return facts.metric(quantity).needs == "scores"


def _labels_decide(facts: Facts) -> bool:
    """Whether every model gives labels of its own, and the primary metric is about labels."""
    primary, models = facts.primary, facts.results.models
    return (
        primary is not None
        and facts.metric(primary).needs == "labels"
        and set(facts.ranked) == set(models)
        and all(labels_are_given(facts, m) for m in models)
        and facts.results.n >= LEAST_CONSTANT
    )


def one_answer(facts: Facts) -> Lead | None:
    """Say that every model gives the same one answer, or the same score, to every example."""
    models = facts.ranked
    flat = {m for w in facts.results.warnings if w.code == "constant_scores" for m in w.about}
    if models and _of_scores(facts, facts.quantity) and set(facts.results.models) <= flat:
        text = Message(
            "headline.one_score", names=_named(facts, models), n=len(models), examples=facts.results.n
        )
        return Lead("no_skill", text, models[0], models[1] if len(models) > 1 else None, tone="undecided")
    answers = _answers(facts)
    labels = {predicted for cells in answers.values() for _, predicted in cells}
    if not _labels_decide(facts) or set(answers) != set(models) or len(labels) != 1:
        return None
    truth = lookups.true_counts(facts.results)
    missed = {c: n for c, n in truth.items() if c not in labels and n}
    if not missed:
        return None
    label = max(missed, key=lambda c: (missed[c], c))
    text = Message(
        "headline.one_answer", names=_named(facts, models), n=len(models), label=visible(labels.pop()),
        examples=facts.results.n, metric=facts.words(facts.quantity), value=amount(value_of(facts, models[0])),
        missed=visible(label), of=int(missed[label]),
    )  # fmt: skip
    return Lead("same_answers", text, models[0], models[1] if len(models) > 1 else None, about=tuple(models))


def all_wrong(facts: Facts) -> Lead | None:
    """Say that every model is wrong on every example."""
    models, answers = facts.ranked, _answers(facts)
    if not _labels_decide(facts) or set(answers) != set(models):
        return None
    if any(true == predicted for cells in answers.values() for true, predicted in cells):
        return None
    of_two = facts.results.task == "binary" and facts.results.n >= LEAST_SWAPPED
    key = "all_wrong_of_two" if of_two else "all_wrong"
    text = Message(f"headline.{key}", names=_named(facts, models), n=len(models), examples=facts.results.n)
    second = models[1] if len(models) > 1 else None
    return Lead("reversed", text, models[0], second, tone="undecided", about=tuple(models))


# --- the wrong way round


def reversed_scores(facts: Facts) -> Lead | None:
    """Name the models that rank the wrong way round, or whose labels are more often wrong than chance would be."""
    below = _worse_than_guessing(facts)
    return None if below is None else _reversed(facts, *below)


def inverted_models(results: Results) -> tuple[str, ...]:
    """Return the models whose place on the primary metric is that of scores or labels that are turned round.

    Labels count as turned with the scores only where they were cut from them.
    """
    facts = Facts(results)
    primary, below = facts.primary, _worse_than_guessing(facts)
    if primary is None or below is None:
        return ()
    quantity, _, turned = below
    if _of_scores(facts, quantity) and facts.metric(primary).needs == "labels":
        turned = [m for m in turned if not labels_are_given(facts, m)]
    return tuple(sorted(turned))


def all_inverted(results: Results) -> bool:
    """Say whether every model that has a value is inverted, so that the order says nothing of which is better."""
    with_value = {r.model for r in results.ranking if r.value is not None}
    return bool(with_value) and with_value <= set(inverted_models(results))


def _worse_than_guessing(facts: Facts) -> tuple[Quantity, dict[str, Limited], list[str]] | None:
    """Return the metric on which models are worse than guessing, all values of it, and these models."""
    if facts.results.task != "binary":
        return None
    for metric, decides in (("roc_auc", True), ("balanced_accuracy", _labels_decide(facts))):
        quantity = facts.overall(metric)
        if quantity is None or not decides:
            continue
        values = {m: v for m in facts.results.models if (v := facts.value(m, quantity)) is not None}
        turned = [m for m, v in values.items() if _below_chance(facts, m, quantity, v)]
        if turned:
            return quantity, values, turned
    return None


def _below_chance(facts: Facts, model: str, quantity: Quantity, value: Limited) -> bool:
    """Say whether a model is worse than guessing: by its pair with that rule, else by its interval."""
    if value.value >= CHANCE:
        return False  # where the truth has one class alone, always guessing it beats models that are mostly right
    pair = facts.against_rule(model, quantity)
    return pair.verdict == "worse" if pair is not None else value.high is not None and value.high < CHANCE


def _reversed(facts: Facts, quantity: Quantity, values: dict[str, Limited], turned: list[str]) -> Lead:
    turned.sort(key=lambda m: (values[m].value, m))
    others = sorted((m for m in values if m not in turned), key=lambda m: (-values[m].value, m))
    kind = "scores" if _of_scores(facts, quantity) else "labels"
    params: dict[str, object] = {"metric": facts.words(quantity), "n": len(turned), "number": len(turned)}
    if len(turned) == 1:
        shown: object = amount(values[turned[0]])
    else:
        shown = tuple(number_of(values[m].value, values[m]) for m in turned)
    text = Message(f"headline.reversed_{kind}", models=_named(facts, turned), value=shown, **params)
    if others:
        key, best, most = "reversed_beside", values[others[0]], values[turned[0]]
        if kind == "scores" and 1 - most.value > best.value:
            key = "reversed_but_best"
        text = Message(f"headline.{key}", text=text, other=facts.name(others[0]), best=number_of(best.value, best),
                       model=facts.name(turned[0]), round=number_of(1 - most.value, most))  # fmt: skip
    elif len(turned) > 1:
        pair = facts.pair(turned[0], turned[1], quantity)
        if pair is not None and pair.decided and not pair.ahead and len(turned) == 2:
            text = Message("headline.reversed_turned", text=text, model=facts.name(turned[0]))
    second = others[0] if others else turned[1] if len(turned) > 1 else None
    return Lead(
        "reversed", text, turned[0], second, tone=None if others else "undecided", about=tuple(turned)
    )
