"""The business view: what another threshold would change, in cases."""

from __future__ import annotations

import numpy as np

from evalreport.curve_records import ThresholdChangeRecord
from evalreport.data.predictions import ModelOutputs
from evalreport.metrics.sample import Sample
from evalreport.numbers import count, to_digits


def threshold_changes(sample: Sample, threshold: float) -> tuple[ThresholdChangeRecord, ...]:
    """Return what calling positive from ``threshold`` on would change of each model's decisions.

    Parameters
    ----------
    threshold
        Of the positive class's probability; of the score where a model gives no probabilities.
    """
    predictions = sample.predictions
    if predictions.task != "binary" or predictions.y_true is None or predictions.positive is None:
        return ()
    positive = predictions.y_true == predictions.positive_code
    return tuple(
        _change(outputs, positive, predictions.positive_code, sample.units.base, threshold)
        for outputs in predictions.models
    )


def _change(
    outputs: ModelOutputs,
    positive: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    code: int,
    weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    threshold: float,
) -> ThresholdChangeRecord:
    score = outputs.score if outputs.proba is None else outputs.proba[:, code]
    name = outputs.name
    if score is None or outputs.present is not None:
        why = "the model gives labels only: no threshold can be moved"
        return ThresholdChangeRecord(name, threshold, text=f"{name}: {why}.", reason=why)
    after = score >= threshold
    tp, fp, fn, tn = (
        float(weights[part].sum())
        for part in (after & positive, after & ~positive, ~after & positive, ~after & ~positive)
    )
    if outputs.y_pred is None:
        text = f"{name}: at threshold {to_digits(threshold, 15)} it would raise {_alarms(tp + fp)}, of which"
        text += f" {count(fp)} false; {count(fn)} positives would be missed."
        why = "the model has no decisions of its own to compare with: bare scores without a threshold"
        return ThresholdChangeRecord(name, threshold, tp=tp, fp=fp, fn=fn, tn=tn, text=text, reason=why)
    before = outputs.y_pred == code
    false_alarms = float(weights[before & ~positive].sum()) - fp
    hits = float(weights[before & positive].sum()) - tp
    changed = float(weights[before != after].sum())
    return ThresholdChangeRecord(
        name,
        threshold,
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


def _alarms(n: float) -> str:
    return f"{count(n)} alarm" if n == 1 else f"{count(n)} alarms"


def _sentence(name: str, threshold: float, changed: float, false_alarms: float, hits: float) -> str:
    fewer = false_alarms + hits
    at = f"{name}: at threshold {to_digits(threshold, 15)} instead of its own decisions"
    if not changed:
        return f"{at} no case changes sides."
    sides = f"{count(changed)} case{'s change' if changed != 1 else ' changes'} sides"
    more = "more" if fewer < 0 or (fewer == 0 and hits < 0) else "fewer"
    sign = -1 if more == "more" else 1
    said = _alarms(abs(fewer)).replace(" ", f" {more} ", 1)
    if sign * false_alarms < 0 or sign * hits < 0:
        # Decisions that no threshold on this score gives may change both ways.
        return f"{at} {sides}: {_change_of(-false_alarms)} false alarms, {_change_of(-hits)} true ones ({said} in all)."
    return f"{at} {sides}: {said}, of which {count(abs(false_alarms))} false and {count(abs(hits))} true."


def _change_of(n: float) -> str:
    return f"{count(abs(n))} {'more' if n > 0 else 'fewer'}"
