"""Everything that a run says about learning algorithms, by its name in the results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.config import Options
from evalreport.data.predictions import Predictions
from evalreport.learning.cross_validation import chosen_records
from evalreport.learning.decomposition import decomposition_records, replicate_curves
from evalreport.learning.estimates import error_estimate_records
from evalreport.metrics.sample import Sample


def about_algorithms(loaded: Predictions, samples: Sequence[Sample], options: Options) -> dict[str, Any]:
    """Return the fields of the results that are about algorithms; nothing for independent test sets.

    Parameters
    ----------
    loaded
        The whole table, with training rows and rows in the bag.
    samples
        The estimates on its test rows; several where the models have test sets of their own.
    """
    if len(samples) != 1:
        return {}
    (sample,) = samples
    decomposition, examples = decomposition_records(loaded, options)
    return {
        "decomposition": decomposition,
        "example_variance": examples,
        "replicate_predictions": replicate_curves(loaded),
        "error_estimates": error_estimate_records(loaded, sample, options),
        "chosen_parameters": chosen_records(sample.predictions, sample.rows.layout.fits),
    }
