"""What a run says about its time before it starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalreport.expected_time import expected_time
from evalreport.metrics.quantities import available
from evalreport.options import Options
from evalreport.predictions.table import Labels, ModelOutputs, Predictions


def labelled(n: int, classes: int, models: int) -> Predictions:
    """Return models that all give the first class."""
    said = np.zeros(n, np.int32)
    return Predictions(
        task="multiclass",
        design="test-set",
        ids=np.arange(n),
        example=np.arange(n),
        y_true=np.arange(n, dtype=np.int32) % classes,
        models=tuple(ModelOutputs(f"m{j:03}", y_pred=said) for j in range(models)),
        labels=Labels(classes=tuple(f"c{k:04}" for k in range(classes))),
    )


def test_a_small_run_says_nothing() -> None:
    """Three classes and two models take a second."""
    predictions = labelled(300, 3, 2)
    assert expected_time(predictions, available(predictions), (), Options()) is None


@pytest.mark.parametrize(
    ("n", "classes", "models", "named"),
    [(4_000, 1_000, 2, "-m"), (5_000, 5, 40, "--baseline"), (20_000_000, 3, 2, "aggregate")],
)
def test_a_long_run_names_what_shortens_it(n: int, classes: int, models: int, named: str) -> None:
    """The option is about what takes most: single classes, pairs of models, or rows."""
    predictions = labelled(n, classes, models)
    found = expected_time(predictions, available(predictions), (), Options())
    assert found is not None
    assert found.seconds >= 10
    assert str(found.message).startswith("this run takes about ")
    assert named in str(found.message)


def test_rows_that_are_drawn_together_take_longer() -> None:
    """Folds, clusters and tasks are resampled from the rows themselves, up to 200,000 of a model."""
    predictions = labelled(150_000, 3, 2)
    quantities = available(predictions)
    assert expected_time(predictions, quantities, (), Options()) is None
    for others in (
        expected_time(predictions, quantities, (), Options(cluster="group")),
        expected_time(replace(predictions, design="cross-validation"), quantities, (), Options()),
    ):
        assert others is not None
        assert "--resamples" in str(others.message)
