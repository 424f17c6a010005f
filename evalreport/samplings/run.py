"""The sampling of a run, by its data and options."""

from __future__ import annotations

import numpy as np

from evalreport.engine.numbering import numbered
from evalreport.errors import UsageError, no_weight
from evalreport.options import Options
from evalreport.predictions.arrays import Floats, Indices
from evalreport.predictions.table import Predictions
from evalreport.predictions.time_order import rows_in_time
from evalreport.samplings.attempts import Attempts
from evalreport.samplings.clusters import Clusters
from evalreport.samplings.examples import Examples
from evalreport.samplings.in_order import InOrder
from evalreport.samplings.sampling import Sampling
from evalreport.samplings.seeds import Seeds
from evalreport.samplings.tasks import Tasks
from evalreport.samplings.weighted import Weighted
from evalreport.texts import quoted


def sampling_of_run(predictions: Predictions, options: Options) -> Sampling:
    """Return how the rows of a run were drawn, by all of its options: an option of a sampling is read here."""
    return sampling_of(
        predictions,
        cluster=options.cluster,
        weight=options.weight,
        fixed_class_counts=options.fixed_class_counts,
        order=options.order,
    )


def sampling_of(
    predictions: Predictions,
    *,
    cluster: str | None,
    weight: str | None,
    fixed_class_counts: bool = False,
    order: str | None = None,
) -> Sampling:
    """Return how the rows of a run were drawn: in the clusters of ``--cluster``, else examples that are predicted once.

    Examples that are predicted repeatedly are clusters of their predictions. ``order``: by what rows follow
    one another (``--order time``), so that neighbours depend on one another.

    With training seeds examples are units even of a model with one seed: others have several of the same examples.

    Loading has checked that the columns named are there.

    Raises
    ------
    InputError
        Where the weight of an example is empty.
    UsageError
        Where class counts are declared as fixed and there are no classes, or units are not single examples.
    """
    codes: Indices | None = None
    kind: type[Clusters] | None = None
    if cluster is not None:
        column = predictions.column(cluster).values
        codes = np.unique(column, return_inverse=True)[1].astype(np.int64)
    elif predictions.n > len(predictions.ids) or predictions.design == "seeds":
        codes = np.unique(predictions.example, return_inverse=True)[1].astype(np.int64)
        kind = Attempts if "attempt" in predictions.keys else None
    if predictions.design == "seeds":
        kind = Seeds
    suite, task = predictions.tasks, None
    if suite is not None:
        task = suite.values.astype(np.int64)
        if codes is not None:
            # A cluster is drawn within each task: what it has in another is a cluster there.
            codes = numbered((task, codes))
    weights = None if weight is None else _weights(predictions, weight)
    strata = None
    if fixed_class_counts:
        if predictions.y_true is None or not predictions.classes:
            raise UsageError(f"--fixed-class-counts: the task is {predictions.task}, which has no classes")
        if codes is not None or weights is not None:
            raise UsageError(
                "--fixed-class-counts holds for single examples: leave out --cluster and --weight, and predict"
                " each example once"
            )
        strata = predictions.y_true.astype(np.int64)
    return sampling_by(
        predictions.n,
        codes,
        weights,
        strata=strata,
        task=task,
        times=None if predictions.multiplicity is None else predictions.multiplicity.astype(np.float64),
        order=None if order is None else rows_in_time(predictions),
        examples=predictions.n_examples,
        of_clusters=kind,
    )


def sampling_by(
    n: int,
    cluster: Indices | None = None,
    weight: Floats | None = None,
    *,
    strata: Indices | None = None,
    task: Indices | None = None,
    times: Floats | None = None,
    order: Indices | None = None,
    examples: int | None = None,
    of_clusters: type[Clusters] | None = None,
) -> Sampling:
    """Return the sampling of rows by what is known of them; the columns as of ``Sampling``.

    Parameters
    ----------
    of_clusters
        What the clusters are: ``Attempts``, ``Seeds`` or (None) ``Clusters``.
    """
    kind: type[Sampling] = Examples if weight is None else Weighted
    if order is not None:
        kind = InOrder
    elif task is not None:
        kind = Tasks
    elif cluster is not None:
        kind = of_clusters or Clusters
    return kind(n, cluster, weight, strata, task, times, order, examples)


def _weights(predictions: Predictions, column: str) -> Floats:
    weights = np.asarray(predictions.metadata[column].values, dtype=np.float64)
    empty = np.flatnonzero(np.isnan(weights))
    if len(empty):
        example = quoted(str(predictions.ids[predictions.example[empty[0]]]))
        whose = f"the id {example}" if predictions.multiplicity is None else "a line"
        files = {record.path for record in predictions.inputs}
        raise no_weight(column, whose, file=files.pop() if len(files) == 1 else None)
    return weights
