"""The warning that calibration is not tested where examples are in order of time."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.questions.calibration.compute import describes_calibration
from evalreport.schema.warnings import WarningRecord, warning
from evalreport.warnings.checks import check


@check("calibration_not_tested", needs=("order", "probabilities"))
def in_time(sample: Sample, options: Options) -> Iterator[WarningRecord]:
    """Say that calibration is not tested where examples are in order of time: its test takes them as independent."""
    forecasts = any(model.proba is not None for model in sample.predictions.models)
    if "time_order" in sample.units.meets and forecasts and describes_calibration(sample.quantities, options):
        yield warning("calibration_not_tested", about=("time",))
