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

START = 1.3
"""Seconds of every run."""

A_ROW, A_ROW_OF_LABELS, A_ROW_OF_VALUES, A_PROBABILITY = 3e-6, 3.5e-7, 5e-6, 4.5e-6
"""Seconds for each row of a model, of one that gives labels alone, of its values in a regression besides, and of its
probability of each of several classes."""

A_ROW_OF_A_UNIT = 3.5e-5
"""Seconds for each row of a model whose rows are not drawn one by one: folds, replicates, tasks, clusters."""

MOST_VALUES = 200_000
"""Values and probabilities of more rows have histograms, or no replicates."""

A_RANKING = 0.25
"""Seconds for the replicates, the band and the curves of one model's scores."""

A_CLASS_VALUE, A_PAIR_VALUE, A_PAIR_CLASS = 5.5e-4, 4e-4, 1.8e-4
"""Seconds for each value of a single class, and for each metric of a pair of models and each class of it."""

A_SLICE_VALUE, A_SLICE_ROW, MOST_SLICE_ROWS = 1.2e-3, 8e-6, 5_000
"""Seconds for each metric of a model in a slice, and for each row that is resampled there, of at most so many."""


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
    resampled, classes = min(n, MOST_VALUES) * draws, len(predictions.classes)
    alone = sum(m.y_pred is not None and m.score is None and m.proba is None for m in predictions.models)
    alone = 0 if predictions.task == "regression" else alone
    of_rows, of_class, scored, ranking = 0.0, 0.0, 0, A_RANKING * draws
    if predictions.design != "test-set" or predictions.tasks is not None or options.cluster is not None:
        of_rows += resampled * A_ROW_OF_A_UNIT
    if predictions.task == "regression":
        of_rows += resampled * A_ROW_OF_VALUES
    elif predictions.task == "multiclass":
        # Swaps take time by the classes, ranks by the probabilities of each.
        of_class = A_PAIR_CLASS * classes * draws
        scored = sum(m.proba is not None for m in predictions.models)
        ranking = resampled * classes * A_PROBABILITY
    else:
        scored = sum(m.score is not None for m in predictions.models)
    slices = sum(len(d.values) for d in divisions)
    in_slices = sum(min(n, MOST_SLICE_ROWS * len(d.values)) for d in divisions) * draws * A_SLICE_ROW
    parts = {
        "rows": START
        + n * (alone * A_ROW_OF_LABELS + (models - alone) * A_ROW)
        + models * of_rows
        + scored * ranking,
        "classes": models * of_classes * A_CLASS_VALUE,
        "pairs": pairs * others * (A_PAIR_VALUE + of_class),
        "slices": slices * models * others * A_SLICE_VALUE + scored * in_slices,
    }
    seconds = sum(parts.values())
    return None if seconds < SAID_FROM else ExpectedTime(seconds, max(parts, key=lambda part: parts[part]))
