"""What ``evaluate()`` returns, and how it is written: results.json is its image."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalreport.algorithm_records import (
    ChosenRecord,
    CriterionChoiceRecord,
    DecompositionRecord,
    ErrorEstimateRecord,
    ExampleVarianceRecord,
    LearningFitRecord,
    LearningPointRecord,
)
from evalreport.curve_records import (
    CurveRecord,
    CurveSummaryRecord,
    DominanceRecord,
    OperatingPointRecord,
    ThresholdChangeRecord,
)
from evalreport.records import (
    AgreementRecord,
    AverageRankRecord,
    BaselineRecord,
    ComparisonRecord,
    ConfusionRecord,
    DisagreementRecord,
    DisparityRecord,
    EffectRecord,
    FoldRecord,
    FoundRecord,
    GateRecord,
    HistoryRecord,
    InputRecord,
    MetricRecord,
    OmnibusRecord,
    RankingRecord,
    VarianceRecord,
    VerdictRecord,
    WarningRecord,
)

SCHEMA = "evalreport/results/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that ``evaluate()`` found; the field names are the keys of results.json."""

    schema: str = SCHEMA
    signature: str
    options: Mapping[str, Any]
    task: str
    design: str
    n: int
    classes: tuple[str, ...]
    positive: str | None
    models: tuple[str, ...]
    primary_metric: str
    baseline: str | None
    inputs: tuple[InputRecord, ...]
    found: tuple[FoundRecord, ...] = ()
    metrics: tuple[MetricRecord, ...] = ()
    disparities: tuple[DisparityRecord, ...] = ()
    baselines: tuple[BaselineRecord, ...] = ()
    folds: tuple[FoldRecord, ...] = ()
    confusion: tuple[ConfusionRecord, ...] = ()
    curves: tuple[CurveRecord, ...] = ()
    curve_summaries: tuple[CurveSummaryRecord, ...] = ()
    operating_points: tuple[OperatingPointRecord, ...] = ()
    dominance: tuple[DominanceRecord, ...] = ()
    threshold_changes: tuple[ThresholdChangeRecord, ...] = ()
    comparisons: tuple[ComparisonRecord, ...] = ()
    omnibus: tuple[OmnibusRecord, ...] = ()
    average_ranks: tuple[AverageRankRecord, ...] = ()
    variance: tuple[VarianceRecord, ...] = ()
    ranking: tuple[RankingRecord, ...] = ()
    decomposition: tuple[DecompositionRecord, ...] = ()
    example_variance: tuple[ExampleVarianceRecord, ...] = ()
    replicate_predictions: tuple[CurveRecord, ...] = ()
    error_estimates: tuple[ErrorEstimateRecord, ...] = ()
    chosen_parameters: tuple[ChosenRecord, ...] = ()
    criterion_choices: tuple[CriterionChoiceRecord, ...] = ()
    learning_curves: tuple[LearningPointRecord, ...] = ()
    learning_fits: tuple[LearningFitRecord, ...] = ()
    effects: tuple[EffectRecord, ...] = ()
    agreement: tuple[AgreementRecord, ...] = ()
    disagreements: tuple[DisagreementRecord, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    gates: tuple[GateRecord, ...] = ()
    history: tuple[HistoryRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        from evalreport.report.notebook import leaderboard_html

        return leaderboard_html(self)


def to_json(results: Results) -> bytes:
    """Write results as UTF-8 JSON: sorted keys, no NaN, the same bytes for the same results."""
    text = json.dumps(_plain(results), ensure_ascii=False, allow_nan=False, sort_keys=True, indent=1) + "\n"
    # A lone surrogate in a name has no UTF-8; written as an escape it is JSON all the same.
    return text.encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
