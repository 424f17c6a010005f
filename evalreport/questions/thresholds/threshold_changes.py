"""The decisions that another threshold changes."""

from __future__ import annotations

from evalreport.metrics.sample import Sample
from evalreport.predictions.arrays import Floats, Mask
from evalreport.predictions.table import ModelOutputs
from evalreport.questions.thresholds.records import ThresholdChangeRecord
from evalreport.texts import Message

DIGITS = 15
"""Of a threshold that was given."""


def threshold_changes(sample: Sample, threshold: float | None) -> tuple[ThresholdChangeRecord, ...]:
    """Return the decisions of each model that would change at another ``threshold``.

    Parameters
    ----------
    threshold
        Of the positive class's probability; of the score where a model gives no probabilities. None: not task for.
    """
    predictions = sample.predictions
    if threshold is None or predictions.task != "binary":
        return ()
    if predictions.y_true is None or predictions.positive is None:
        return ()
    positive = predictions.y_true == predictions.positive_code
    return tuple(
        _change(outputs, positive, predictions.positive_code, sample.units.base, threshold)
        for outputs in predictions.models
    )


def _change(
    outputs: ModelOutputs, positive: Mask, code: int, weights: Floats, threshold: float
) -> ThresholdChangeRecord:
    score = outputs.score if outputs.proba is None else outputs.proba[:, code]
    name = outputs.name
    if score is None or outputs.present is not None:
        why = Message("threshold_change.labels_only")
        text = Message("threshold_change.sentence", model=name, reason=why)
        return ThresholdChangeRecord(model=name, threshold=threshold, text=text, reason=why)
    after = score >= threshold
    tp, fp, fn, tn = (
        float(weights[part].sum())
        for part in (after & positive, after & ~positive, ~after & positive, ~after & ~positive)
    )
    if outputs.y_pred is None:
        text = Message(
            "threshold_change.raised",
            model=name, threshold=threshold, digits=DIGITS, n=tp + fp, wrong=fp, missed=fn,
        )  # fmt: skip
        why = Message("threshold_change.no_decisions")
        return ThresholdChangeRecord(
            model=name, threshold=threshold, tp=tp, fp=fp, fn=fn, tn=tn, text=text, reason=why
        )
    before = outputs.y_pred == code
    false_alarms = float(weights[before & ~positive].sum()) - fp
    hits = float(weights[before & positive].sum()) - tp
    changed = float(weights[before != after].sum())
    return ThresholdChangeRecord(
        model=name,
        threshold=threshold,
        changed=changed,
        fewer_alarms=false_alarms + hits,
        fewer_false_alarms=false_alarms,
        fewer_hits=hits,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        text=_sentence(name, threshold, changed, false_alarms, hits),
    )


def _sentence(name: str, threshold: float, changed: float, false_alarms: float, hits: float) -> Message:
    if not changed:
        return Message("threshold_change.none", model=name, threshold=threshold, digits=DIGITS)
    fewer = false_alarms + hits
    sign = -1 if fewer < 0 or (fewer == 0 and hits < 0) else 1
    sides = Message("threshold_change.sides", n=changed)
    direction = "threshold_change.fewer_alarms" if sign > 0 else "threshold_change.more_alarms"
    alarms = Message(direction, n=abs(fewer))
    if sign * false_alarms < 0 or sign * hits < 0:
        # Decisions that no threshold on this score gives may change both ways.
        return Message(
            "threshold_change.both_ways", model=name, threshold=threshold, digits=DIGITS,
            sides=sides, alarms=alarms, wrong=_change_of(-false_alarms), right=_change_of(-hits),
        )  # fmt: skip
    return Message(
        "threshold_change.one_way", model=name, threshold=threshold, digits=DIGITS,
        sides=sides, alarms=alarms, wrong=abs(false_alarms), right=abs(hits),
    )  # fmt: skip


def _change_of(n: float) -> Message:
    return Message("threshold_change.more" if n > 0 else "threshold_change.fewer", n=abs(n))
