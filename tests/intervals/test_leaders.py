"""Which interval leads: by how many examples a class has, for means of losses and for confusion tables."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.intervals import INTERVALS, limits, recommended
from evalreport.intervals.leaders import FOLDS, LEADERS, UNLIKE
from evalreport.metrics.estimate import Estimate
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import estimate_all
from evalreport.predictions.table import ModelOutputs, Predictions
from evalreport.samplings import WORDS, Sampling, sampling_by
from research.studies.designs import labelled, predictions_on


def estimated(predictions: Predictions, quantity: Quantity, units: Sampling | None = None) -> Estimate:
    """Estimate one quantity of the only model."""
    units = units or sampling_by(predictions.n)
    sample = estimate_all(predictions, [quantity], units=units, n_resamples=50, seed=0)
    return sample.estimates["a", quantity]


def classified(table: list[list[int]]) -> Predictions:
    """Return a test set with these counts, rows true."""
    counts, k = np.array(table), len(table)
    true, said = np.unravel_index(np.repeat(np.arange(k * k), counts.ravel()), (k, k))
    return labelled(true.astype(np.int32), {"a": said.astype(np.int32)}, k)


def with_errors(errors: np.ndarray) -> Predictions:
    """Return a regression test set with these errors."""
    true = np.linspace(0, 1, len(errors))
    return predictions_on("regression", true, (ModelOutputs("a", y_pred=true + errors),))


# --- area under the ROC curve ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positives", "negatives", "leads"),
    [
        (29, 100, "newcombe_auc"),
        (100, 29, "newcombe_auc"),
        (11, 11, "newcombe_auc"),
        (20, 500, "newcombe_auc"),
        (30, 30, "logit"),
        (30, 500, "logit"),
    ],
)
def test_the_logit_needs_thirty_of_each_class(positives: int, negatives: int, leads: str) -> None:
    """With fewer than 30 positives or negatives DeLong's error is unsure and Newcombe's interval leads."""
    true = np.repeat([1, 0], [positives, negatives]).astype(np.int32)
    score = np.random.default_rng(5).normal(size=len(true)) + true
    predictions = predictions_on("binary", true, (ModelOutputs("a", score=score),), 2)
    estimate = estimated(predictions, Quantity("roc_auc"))
    assert 0.05 < estimate.value < 0.95
    assert recommended(estimate) == leads


# --- means of losses ------------------------------------------------------------------------------------------------


def test_signed_means_and_clusters_keep_their_intervals() -> None:
    """A mean of signed errors leads with t; whole clusters lead with theirs."""
    errors = np.random.default_rng(7).normal(size=60)
    assert recommended(estimated(with_errors(errors), Quantity("bias_error"))) == "t"
    clusters = sampling_by(60, np.repeat(np.arange(12), 5))
    for metric in ("mae", "rmse"):
        estimate = estimated(with_errors(errors), Quantity(metric), clusters)
        assert recommended(estimate) == "cluster_t"
        assert limits(estimate, "hall", 0.95).low is None


# --- functions of the confusion table -------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 12])
def test_functions_of_the_confusion_table_lead_by_plus_four(classes: int) -> None:
    """Whatever the number of classes; a share of examples keeps Wilson's interval, and so does one class's recall."""
    predictions = classified((np.eye(classes, dtype=int) * 20 + 1).tolist())
    label = None if classes == 2 else predictions.classes[0]
    for metric in ("balanced_accuracy", "mean_per_class_error", "mcc", "cohen_kappa", "scott_pi"):
        assert recommended(estimated(predictions, Quantity(metric))) == "plus_four"
    for metric in ("f1", "f0_5", "f2", "jaccard", "informedness", "markedness"):
        assert recommended(estimated(predictions, Quantity(metric, label=label))) == "plus_four"
    for metric in ("recall", "specificity", "precision", "npv", "fpr", "fnr"):
        assert recommended(estimated(predictions, Quantity(metric, label=label))) == "wilson"
    for average in ("macro", "weighted"):
        assert recommended(estimated(predictions, Quantity("f1", average=average))) == "plus_four"
        assert recommended(estimated(predictions, Quantity("precision", average=average))) == "plus_four"
    assert recommended(estimated(predictions, Quantity("accuracy"))) == "wilson"


def test_clusters_and_weights_do_not_lead_by_made_up_examples() -> None:
    """Made-up examples are single ones that count the same: of clusters and weights the own intervals lead."""
    predictions = classified([[70, 3, 2], [6, 12, 2], [1, 1, 3]])
    clusters = sampling_by(100, np.repeat(np.arange(20), 5))
    weights = sampling_by(100, weight=np.linspace(1, 2, 100))
    for quantity in (Quantity("balanced_accuracy"), Quantity("f1", average="macro")):
        assert recommended(estimated(predictions, quantity, clusters)) == "cluster_wilson"
        assert recommended(estimated(predictions, quantity, weights)) == "weighted_logit"
        for units in (clusters, weights):
            assert limits(estimated(predictions, quantity, units), "plus_four", 0.95).low is None


# --- the table ------------------------------------------------------------------------------------------------------


def test_every_row_of_the_table_names_an_interval_and_what_is_drawn() -> None:
    """A misspelled interval or condition would only be seen on data that the row is for."""
    assert {row.name for row in LEADERS if isinstance(row.name, str)} <= set(INTERVALS)
    assert {row.drawn for row in LEADERS} <= {"", FOLDS, UNLIKE, *WORDS}
