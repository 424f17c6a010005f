"""What ``evaluate()`` returns, and how it is written: results.json is its image."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
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
from evalreport.audit_records import AuditRecord, EvidenceRecord
from evalreport.curve_records import (
    CurveRecord,
    CurveSummaryRecord,
    DominanceRecord,
    OperatingPointRecord,
    ResidualRecord,
    ScoreHistogramRecord,
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
    score_histograms: tuple[ScoreHistogramRecord, ...] = ()
    residuals: tuple[ResidualRecord, ...] = ()
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
    audit: tuple[AuditRecord, ...] = ()
    evidence: tuple[EvidenceRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        from evalreport.report.notebook import leaderboard_html

        return leaderboard_html(self)


_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True).encode
# With an indent the encoder is written in Python, and ten times slower; so records are set on lines here.


def to_json(results: Results) -> bytes:
    """Write results as UTF-8 JSON, a record on each line: sorted keys, no NaN, the same bytes for the same results."""
    names = sorted(f.name for f in dataclasses.fields(results))
    entries = (f"{_ENCODE(name)}: {_entry(_plain(getattr(results, name)))}" for name in names)
    text = "{\n " + ",\n ".join(entries) + "\n}\n"
    # A lone surrogate in a name has no UTF-8; written as an escape it is JSON all the same.
    return text.encode("utf-8", "backslashreplace")


def _entry(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return _ENCODE(value)
    return "[\n  " + ",\n  ".join(map(_ENCODE, value)) + "\n ]"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(getattr(value, name)) for name in _names(type(value))}
    return value


@cache
def _names(record: type) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(f.name for f in dataclasses.fields(record))
