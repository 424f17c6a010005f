"""What ``evaluate()`` returns, and how it is written: results.json is its image."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
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
from evalreport.texts import Message, Text, english, joined, speaking

SCHEMA = "evalreport/results/2"


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
    with speaking(english()):
        return _written(results, names)


def _written(results: Results, names: Sequence[str]) -> bytes:
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
    if isinstance(value, Message):
        return str(value)
    if isinstance(value, (VerdictRecord, WarningRecord)):
        return _said(value.text) | _fields(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return value


def _fields(record: Any) -> dict[str, Any]:
    kind: type = type(record)
    return {name: _plain(getattr(record, name)) for name in _names(kind)}


def _said(text: Text) -> dict[str, Any]:
    """Give a sentence's code and parameters; of several joined ones those of the first, with the others as notes."""
    first, *notes = map(_coded, joined(text))
    return first | ({"notes": notes} if notes else {}) if first else {}


def _coded(text: Text) -> dict[str, Any]:
    return {"code": text.code, "params": _params(text)} if isinstance(text, Message) else {}


def _params(message: Message) -> dict[str, Any]:
    """Give the parameters as JSON has them; a message among them keeps its own code and parameters."""

    def plain(value: Any) -> Any:
        if isinstance(value, Message):
            return _coded(value)
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return _plain(value)

    return {name: plain(value) for name, value in message.params.items()}


@cache
def _names(record: type[Any]) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(f.name for f in dataclasses.fields(record))
