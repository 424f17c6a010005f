"""About how long a run takes, from the shapes of its data, and which option shortens it most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.comparisons.pairs import model_pairs
from evalreport.metrics.registry import Quantity
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.texts import Message

SAID_FROM = 10.0
"""Seconds from which on a run says what it will cost."""

A_ROW, A_ROW_OF_VALUES = 4e-6, 8e-6
"""Seconds for each row of a model; of values whose medians and ranks have no histogram up to ``MOST_VALUES`` rows."""

MOST_VALUES = 200_000

A_CLASS_VALUE, A_PAIR_VALUE, A_DISCORDANT_ROW = 8e-4, 2e-3, 1.5e-5
"""Seconds for each value of a single class, and for each metric of a pair of models and each row they differ in."""

A_SLICE_VALUE = 1.5e-3
"""Seconds for each metric of a model in a slice."""


@dataclass(frozen=True, slots=True)
class ExpectedTime:
    """About how many seconds a run takes, and what takes most of them: rows, classes, pairs or slices."""

    seconds: float
    most: str

    @property
    def message(self) -> Message:
        """The sentence that is printed before the run starts."""
        unit = 10 if self.seconds < 95 else 60
        about = max(round(self.seconds / unit), 1) * unit
        return Message("expected.time", seconds=about, option=Message(f"expected.{self.most}"))


def expected_time(
    predictions: Predictions, quantities: Sequence[Quantity], divisions: Sequence[Division], options: Options
) -> ExpectedTime | None:
    """Estimate how long the analysis takes; None below ten seconds.

    Numbers of rows, values and pairs times what each took on one processor: right within a factor of about three.
    """
    n, models, draws = predictions.n, len(predictions.models), options.resamples / 2000
    pairs = len(model_pairs([m.name for m in predictions.models], options.baseline))
    of_classes = sum(q.label is not None for q in quantities)
    others = len(quantities) - of_classes
    of_values = min(n, MOST_VALUES) * A_ROW_OF_VALUES * draws if predictions.task == "regression" else 0.0
    # Swaps take time by the rows in which two models differ, of which these are usually less than half.
    discordant = min(n, 2_000) if len(predictions.classes) > 2 else 4
    parts = {
        "rows": models * (n * A_ROW + of_values),
        "classes": models * of_classes * A_CLASS_VALUE,
        "pairs": pairs * others * (A_PAIR_VALUE + discordant * A_DISCORDANT_ROW * draws),
        "slices": sum(len(d.values) for d in divisions) * models * others * A_SLICE_VALUE,
    }
    seconds = sum(parts.values())
    return None if seconds < SAID_FROM else ExpectedTime(seconds, max(parts, key=lambda part: parts[part]))
