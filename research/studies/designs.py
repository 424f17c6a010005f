"""Populations with known values: how a test set is drawn from each, and what every metric truly is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalreport.engine.counts import margins_of
from evalreport.metrics.registry import Quantity
from evalreport.metrics.table_functions import table_function
from evalreport.options import Task
from evalreport.predictions.table import Column, Labels, ModelOutputs, Predictions
from evalreport.samplings import Sampling, sampling_by

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
Draw = Callable[[np.random.Generator, int], tuple[Predictions, Sampling]]
Kind = Literal["value", "difference"]
Truth = tuple[Kind, str, Quantity]
"""What is estimated: ("value", model, quantity), or ("difference", "a", quantity) of a against b."""


@dataclass(frozen=True, slots=True)
class Design:
    """One population and the sizes at which test sets are drawn from it.

    Attributes
    ----------
    name, text
        How tables name it; what it is, in one clause.
    sizes
        Examples (or clusters, where whole clusters are drawn) in a test set.
    draw
        (generator, size) -> a test set and its resampling units.
    truths
        The true value of everything that is estimated.
    """

    name: str
    text: str
    sizes: tuple[int, ...]
    draw: Draw
    truths: Mapping[Truth, float] = field(default_factory=dict)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Every quantity that is estimated."""
        return tuple(dict.fromkeys(quantity for _, _, quantity in self.truths))


SIZES = (30, 100, 1000)


# --- labels ---------------------------------------------------------------------------------------------------------

BINARY = tuple(
    Quantity(name) for name in ("f1", "mcc", "cohen_kappa", "balanced_accuracy", "recall", "precision")
)
SEVERAL = (
    Quantity("f1", average="macro"), Quantity("f1", average="weighted"), Quantity("balanced_accuracy"),
    Quantity("mcc"), Quantity("cohen_kappa"),
)  # fmt: skip
ALIKE = 0.6
"""The second model says what the first says this often, else it decides by itself: that pairs them."""


def two_classifiers(table: Floats, other: Floats) -> Floats:
    """Return chances (K, K, K) of (truth, first model, second model).

    Parameters
    ----------
    table
        (K, K) chances of (truth, first model's label).
    other
        (K, K) chances of the second model's label given the truth where it decides by itself; rows sum to 1.
    """
    same = np.eye(len(table))
    return np.asarray(table[:, :, None] * (ALIKE * same[None, :, :] + (1 - ALIKE) * other[:, None, :]))


def rates(tpr: float, fpr: float) -> Floats:
    """Return the chances of (negative, positive) labels given a negative and given a positive example."""
    return np.array([[1 - fpr, fpr], [1 - tpr, tpr]])


def label_design(
    name: str, text: str, chances: Floats, quantities: Sequence[Quantity], sizes: tuple[int, ...] = SIZES
) -> Design:
    """Return a design in which label counts are multinomial with the given chances (K, K, K)."""
    k = len(chances)

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        codes = np.repeat(np.arange(k**3), generator.multinomial(n, chances.ravel()))
        true, a, b = (part.astype(np.int32) for part in np.unravel_index(codes, (k, k, k)))
        return labelled(true, {"a": a, "b": b}, k), sampling_by(n)

    example, _ = draw(np.random.default_rng(0), 1)
    tables = {"a": chances.sum(2), "b": chances.sum(1)}
    truths: dict[Truth, float] = {}
    for quantity in quantities:
        # A metric of the population is the metric's own function of the chances instead of counts.
        function = table_function(quantity, example)
        values = {model: float(function(margins_of(table))) for model, table in tables.items()}
        truths["value", "a", quantity] = values["a"]
        if quantity.metric in ("f1", "mcc", "balanced_accuracy"):
            truths["difference", "a", quantity] = values["a"] - values["b"]
    accuracy = {model: float(np.trace(table)) for model, table in tables.items()}
    truths["difference", "a", Quantity("accuracy")] = accuracy["a"] - accuracy["b"]
    return Design(name, text, sizes, draw, truths)


def labelled(true: Codes, predicted: Mapping[str, Codes], n_classes: int) -> Predictions:
    """Return a test set of labels; two classes make a binary task whose positive class is code 1."""
    models = tuple(ModelOutputs(name, y_pred=codes) for name, codes in predicted.items())
    return predictions_on("binary" if n_classes == 2 else "multiclass", true, models, n_classes)


def predictions_on(
    task: Task,
    true: npt.NDArray[np.generic] | None,
    models: tuple[ModelOutputs, ...],
    n_classes: int = 0,
    keys: Mapping[str, Column] = MappingProxyType({}),
) -> Predictions:
    """Return predictions on one test set, as loading would have made them; of outcomes nothing is true."""
    if true is None:
        (first, *_), own = models, models[0].numbers.values()
        n = len(next(iter(own)) if own else np.asarray(first.outcome))
    else:
        n = len(true)
    return Predictions(
        task=task,
        design="test-set",
        ids=np.arange(n).astype(str),
        example=np.arange(n),
        y_true=true,
        models=models,
        keys=keys,
        labels=Labels(
            classes=tuple(str(k) for k in range(n_classes)), positive="1" if task == "binary" else None
        ),
    )


def binary_designs() -> list[Design]:
    """Return the four populations of the table of F1 intervals: balanced, less so, rare, near-perfect."""
    found = []
    for prevalence, tpr, fpr in ((0.5, 0.8, 0.2), (0.2, 0.7, 0.1), (0.1, 0.7, 0.05), (0.2, 0.95, 0.02)):
        table = np.array([1 - prevalence, prevalence])[:, None] * rates(tpr, fpr)
        chances = two_classifiers(table, rates(tpr - 0.1, fpr + 0.05))
        text = f"prevalence {prevalence:g}, TPR {tpr:g}, FPR {fpr:g}"
        found.append(label_design(text, text, chances, BINARY))
    return found


def several_designs() -> list[Design]:
    """Return three classes of like size, three of which one is rare, and three of which one is very rare."""
    even = np.array([[0.30, 0.06, 0.04], [0.05, 0.22, 0.03], [0.04, 0.06, 0.20]])
    rare = np.array([[0.70, 0.03, 0.02], [0.06, 0.12, 0.02], [0.01, 0.01, 0.03]])
    very_rare = np.array([[0.76, 0.03, 0.01], [0.04, 0.13, 0.01], [0.005, 0.003, 0.012]])
    worse = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
    return [
        label_design("three classes, even", "classes 0.40, 0.30, 0.30; accuracy 0.72",
                     two_classifiers(even, worse), SEVERAL),
        label_design("three classes, one rare", "classes 0.75, 0.20, 0.05; accuracy 0.85",
                     two_classifiers(rare, worse), SEVERAL),
        label_design("three classes, one very rare", "classes 0.80, 0.18, 0.02; accuracy 0.90",
                     two_classifiers(very_rare, worse), SEVERAL, (1000,)),
    ]  # fmt: skip


# --- clusters and weights -------------------------------------------------------------------------------------------

IN_A_CLUSTER = 10
LARGEST, SMALLEST = 400, 10
"""Examples in the largest and in the smallest of clusters of unequal size."""
OF_CLUSTERS = ("accuracy", "f1", "mcc")


def cluster_design() -> Design:
    """Return clusters of ten examples that are right together: intraclass correlation 0.2, accuracy 0.8."""

    def draw(generator: np.random.Generator, n_clusters: int) -> tuple[Predictions, Sampling]:
        # Beta(4 p, 4 (1 - p)) has the intraclass correlation 1 / (1 + 4).
        cluster = np.repeat(np.arange(n_clusters), IN_A_CLUSTER)
        return answers_in_clusters(generator, cluster, {"a": generator.beta(3.2, 0.8, n_clusters)})

    text = "G clusters of 10 examples, intraclass correlation 0.2, accuracy 0.8, classes even"
    return Design("clusters of ten", text, (10, 30, 100), draw, _truths_in_clusters({"a": 0.8}))


def unequal_clusters(name: str, accuracy: float, correlation: float, ahead: float = 0.05) -> Design:
    """Return clusters of 400 down to 10 examples, in equal steps of the logarithm; the second model errs more."""
    shares = {"a": accuracy, "b": accuracy - ahead}
    concentration = 1 / correlation - 1

    def draw(generator: np.random.Generator, n_clusters: int) -> tuple[Predictions, Sampling]:
        sizes = np.round(np.geomspace(LARGEST, SMALLEST, n_clusters)).astype(np.int64)
        chances = {
            model: generator.beta(concentration * p, concentration * (1 - p), n_clusters)
            for model, p in shares.items()
        }
        return answers_in_clusters(generator, np.repeat(np.arange(n_clusters), sizes), chances)

    text = f"G clusters of {LARGEST} down to {SMALLEST} examples, intraclass correlation {correlation:g}, accuracy"
    text += f" {accuracy:g} (b: {accuracy - ahead:g}), classes even"
    return Design(name, text, (8, 20), draw, _truths_in_clusters(shares))


def answers_in_clusters(
    generator: np.random.Generator, cluster: npt.NDArray[np.int64], chances: Mapping[str, Floats]
) -> tuple[Predictions, Sampling]:
    """Draw answers that are right with the chance of the model in the example's cluster."""
    n = len(cluster)
    true = (generator.random(n) < 0.5).astype(np.int32)
    said = {}
    for model, by_cluster in chances.items():
        right = generator.random(n) < by_cluster[cluster]
        said[model] = np.where(right, true, 1 - true).astype(np.int32)
    return labelled(true, said, 2), sampling_by(n, cluster)


def _truths_in_clusters(shares: Mapping[str, float]) -> dict[Truth, float]:
    """Errors do not depend on the class and the classes are even: F1 equals the accuracy p, and MCC is 2 p - 1."""
    values = {
        model: dict(zip(OF_CLUSTERS, (share, share, 2 * share - 1), strict=True))
        for model, share in shares.items()
    }
    truths: dict[Truth, float] = {
        ("value", "a", Quantity(metric)): value for metric, value in values["a"].items()
    }
    if "b" in values:
        truths |= {
            ("difference", "a", Quantity(metric)): values["a"][metric] - values["b"][metric]
            for metric in OF_CLUSTERS
        }
    return truths


def weight_design() -> Design:
    """Return the balanced binary population, each example with a log-normal weight that says nothing of it."""
    plain = binary_designs()[0]

    def draw(generator: np.random.Generator, n: int) -> tuple[Predictions, Sampling]:
        predictions, _ = plain.draw(generator, n)
        return predictions, sampling_by(n, weight=np.exp(generator.normal(size=n)))

    text = f"{plain.text}; weights log-normal with sigma 1, so that n examples count as about n / e"
    # Of this table: accuracy = prevalence TPR + (1 - prevalence) (1 - FPR).
    accuracy: Truth = ("value", "a", Quantity("accuracy"))
    return Design("weights, log-normal", text, (200, 1000), draw, {accuracy: 0.8, **plain.truths})
