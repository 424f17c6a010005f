"""The warning that people did not judge a random part of the answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalreport.metrics.registry import JUDGED
from evalreport.options import Options
from evalreport.predictions.table import Predictions
from evalreport.questions.judges.gold import gold_sampling
from evalreport.questions.judges.records import GoldSamplingRecord
from evalreport.schema.warnings import Level, WarningRecord, warning
from evalreport.texts import Message

VISIBLE = 0.001
"""An adjusted p-value below this says that the rows with gold were chosen."""


def gold_warnings(records: Sequence[GoldSamplingRecord], options: Options) -> Iterator[WarningRecord]:
    """Warn of gold that is visibly not a random part: a blocker where the verdict rests on it, unless declared fair."""
    primary = options.metrics[0] if options.metrics else JUDGED
    level: Level = "info" if options.gold_sampled else "blocker" if primary == JUDGED else "caution"
    for about in ("outcome", "model", "task"):
        flagged = [record for record in records if record.about == about and record.p_adjusted < VISIBLE]
        if not flagged:
            continue
        largest = max(flagged, key=lambda record: abs((record.gold or 0.0) - (record.rest or 0.0)))
        key = f"declared_{about}" if options.gold_sampled else about
        facts: dict[str, object] = {"most": largest.most, "least": largest.least}
        if about == "outcome":
            facts = {"model": largest.model, "n": len(flagged)}
        facts |= {"gold": largest.gold, "rest": largest.rest, "p": largest.p_adjusted}
        test = Message(f"gold_test.{largest.test}")
        yield warning("gold_not_random", key, about=("gold",), level=level, test=test, **facts)


def with_gold_checked(predictions: Predictions, options: Options) -> Predictions:
    """Add the warnings that the gold is visibly not a random part of the answers."""
    if not predictions.judged:
        return predictions
    raised = tuple(gold_warnings(gold_sampling(predictions, options), options))
    return predictions.noted(warnings=raised) if raised else predictions
