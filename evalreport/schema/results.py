"""What ``evaluate()`` returns, and how it is written: results.json is its image."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from evalreport.errors import UsageError
from evalreport.registry import unknown_name
from evalreport.schema.records import (
    AgreementRecord,
    AttemptVarianceRecord,
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
    GoldSamplingRecord,
    HistoryRecord,
    InputRecord,
    JsonObject,
    JudgeAgreementRecord,
    JudgeBiasRecord,
    JudgeEstimateRecord,
    MetricRecord,
    OmnibusRecord,
    RankingRecord,
    TaskVerdictRecord,
    UnanimityRecord,
    VarianceRecord,
    VerdictRecord,
    WarningRecord,
)
from evalreport.texts import Message, Text, english, joined, speaking

if TYPE_CHECKING:
    import pandas as pd

SQUARES_OF = {"squared": "values", "brier": "probabilities"}
"""Losses that are squared errors, and of what."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecompositionRecord:
    """One model's expected loss split into bias and variance; expected_loss = bias + net variance (+ noise).

    ``loss``: ``squared`` (numbers), ``brier`` (probabilities), ``0-1`` (labels, Domingos) or ``kohavi_wolpert``.
    ``variance`` has divisor K. ``variance_unbiased``: squared losses and Kohavi-Wolpert: with divisor K - 1; 0-1: the
    part on examples whose main prediction is right. ``variance_biased``: 0-1, what the others gain by straying.
    ``bias_unbiased``: ``bias`` without the variance / K that it holds, with its limits over examples; below 0 where
    chance has it so, None for 0-1. It and ``variance_unbiased`` are over the ``n_unbiased`` examples with two or more
    predictions. ``noise`` is None where it is not known: ``bias`` then holds it. ``low`` and ``high`` are limits of
    ``expected_loss`` over examples. ``aggregated_loss`` is the loss of the mean (or main) prediction, so averaging
    the replicates removes the rest. ``*_monte_carlo``: how far the figure moves with other replicates.
    """

    model: str
    loss: str
    expected_loss: float
    bias: float
    variance: float
    variance_unbiased: float | None
    variance_biased: float | None
    noise: float | None
    n_replicates: int
    low: float | None
    high: float | None
    n: int = 0
    aggregated_loss: float | None = None
    bias_low: float | None = None
    bias_high: float | None = None
    variance_low: float | None = None
    variance_high: float | None = None
    expected_loss_monte_carlo: float | None = None
    bias_monte_carlo: float | None = None
    variance_monte_carlo: float | None = None
    complexity: float | None = None
    train_size: float | None = None
    bias_unbiased: float | None = None
    bias_unbiased_low: float | None = None
    bias_unbiased_high: float | None = None
    n_unbiased: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleVarianceRecord:
    """One of the examples on which a model's replicates differ most, the most variable first.

    ``main_prediction``: mean (numbers), mean probability of the positive or true class, or mode (labels).
    """

    model: str
    id: str
    loss: str
    truth: str
    main_prediction: str
    expected_loss: float
    bias: float
    variance: float
    n_replicates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEstimateRecord:
    """One resampling estimate of a learning algorithm's error; a missing one has its reason and what would give it."""

    model: str
    estimator: str
    metric: str
    value: float | None = None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    details: JsonObject
    reason: Text | None = None
    interval_method: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRecord:
    """The parameters that an inner search chose for one model on one outer fold."""

    model: str
    repeat: str | None
    fold: str | None
    params: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionChoiceRecord:
    """Which model a penalised criterion chooses, how far the runner-up is, and over which family."""

    criterion: str
    model: str
    value: float
    second: str | None
    distance: float | None
    models: tuple[str, ...]
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningPointRecord:
    """One point of a learning or complexity curve: a model's error at one ``train_size`` or ``complexity`` (``axis``).

    ``part``: ``test``, or ``train`` for the error on the rows that each fit was trained on. ``used`` marks the point
    that the comparisons of the report are made at.
    """

    model: str
    axis: str
    x: float
    part: str
    metric: str
    value: float | None
    standard_error: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    n_fits: int
    used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningFitRecord:
    """A power law a + b n^-c through a model's learning curve; None with a reason where it does not fit.

    ``at`` is a training size beyond the data and ``predicted`` the error there, with its limits: an extrapolation.
    ``needed`` is the size at which the error would be lower by the declared margin, where one is declared.
    """

    model: str
    metric: str
    a: float | None
    b: float | None
    c: float | None
    a_low: float | None
    a_high: float | None
    at: float | None
    predicted: float | None
    low: float | None
    high: float | None
    level: float
    needed: float | None = None
    needed_low: float | None = None
    needed_high: float | None = None
    reason: Text | None = None


Relation = Literal["above", "below", "crosses", "same"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveRecord:
    """One curve of one model; x, y, threshold, low, high, count are arrays of equal length (or None).

    ``band`` says of what kind low and high are: ``pointwise`` limits hold at each x by itself.
    """

    model: str
    curve: str
    label: str | None
    x: tuple[float, ...]
    y: tuple[float, ...]
    threshold: tuple[float | None, ...] | None = None
    low: tuple[float | None, ...] | None = None
    high: tuple[float | None, ...] | None = None
    count: tuple[float, ...] | None = None
    band: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSummaryRecord:
    """One number of one curve, from all its points, not the thinned ones: an area, or its height ``at`` a place."""

    model: str
    curve: str
    label: str | None
    quantity: str
    at: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str | None = None
    reason: Text | None = None


EQUAL_ERRORS = "eer"
"""The criterion of the threshold at which both error rates are equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPointRecord:
    """One threshold of one model that some criterion chooses on these very data, and what it gives there.

    ``threshold`` is null where no example is to be called positive. The counts are those at the threshold;
    ``value`` is of ``metric``. ``optimistic`` says that the threshold was chosen on the data it is judged on.
    """

    model: str
    criterion: str
    metric: str
    at: float | None
    threshold: float | None
    value: float | None
    low: float | None
    high: float | None
    level: float
    method: str | None
    tp: float
    fp: float
    fn: float
    tn: float
    optimistic: bool
    text: Text
    reason: Text | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers by name: ``optimism``, ``ties``, ``slope`` and ``offset`` of the line that touches the curve."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DominanceRecord:
    """How two models' curves lie to each other: a seen from b, with the false positive rates where they cross.

    ``a_most`` and ``b_most`` are by how much each is higher at most, and ``..._at`` where. ``clear`` says that each
    is higher by so much that it matters; ``clear_crossings`` are then those between such stretches, wiggles left out,
    and ``beyond_bands`` whether each leaves the other's pointwise band somewhere (null without bands).
    """

    a: str
    b: str
    curve: str
    label: str | None = None
    relation: Relation
    crossings: tuple[float, ...] = ()
    a_most: float
    a_most_at: float | None = None
    b_most: float
    b_most_at: float | None = None
    clear: bool = False
    text: Text = ""
    clear_crossings: tuple[float, ...] = ()
    beyond_bands: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdChangeRecord:
    """What another threshold than the model's own decisions would change, in cases.

    ``fewer_alarms`` is positive predictions before less those after, and of these ``fewer_false_alarms`` are
    negatives and ``fewer_hits`` positives; negative numbers mean more.
    """

    model: str
    threshold: float
    changed: float | None = None
    fewer_alarms: float | None = None
    fewer_false_alarms: float | None = None
    fewer_hits: float | None = None
    tp: float | None = None
    fp: float | None = None
    fn: float | None = None
    tn: float | None = None
    text: Text = ""
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreHistogramRecord:
    """How one model's scores are distributed among the examples of one class: ``counts`` between ``edges``.

    ``positive``: whether that class is the positive one. ``scale`` is ``probability`` (of the positive class) or
    ``score``; the first and the last bin of bare scores hold whatever lies beyond their edge.
    """

    model: str
    true: str
    positive: bool
    scale: Literal["probability", "score"]
    edges: tuple[float, ...]
    counts: tuple[float, ...]
    n: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualRecord:
    """One model's predicted and true values, thinned for drawing, and its calibration in bins of equal size.

    ``predicted`` and ``true`` are of some examples, spread evenly over the order of predictions, and of those with
    the largest errors. Each bin has its mean prediction, mean truth, limits of the mean truth at ``level`` (null
    where examples are not independent, or too few) and count.
    """

    model: str
    predicted: tuple[float, ...]
    true: tuple[float, ...]
    bin_predicted: tuple[float, ...]
    bin_true: tuple[float, ...]
    bin_low: tuple[float | None, ...]
    bin_high: tuple[float | None, ...]
    bin_count: tuple[float, ...]
    level: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One question that an audit asks about its accepted run, and the answer.

    ``question``: ``worse`` (over all looks since the accepted run), ``worse_this_run`` (this look alone, as a plain
    test would), ``slice``, ``examples``, ``labels``, ``classes``, ``predicted_labels``, ``scores``, ``missing``,
    ``column``. ``about`` names a model, slice or column. ``p_adjusted`` is adjusted for all looks and for the questions
    of its kind; ``alarm``: it is at or below 1 - confidence, and the change is one for the worse where it has a
    direction. Of ``worse`` over nights, ``statistic`` is the evidence e, ``p_value`` 1 / e and ``effect_size`` the mean
    of the nights since less that of the accepted ones (or less the floor). ``run`` is the newest accepted run, ``look``
    how often the series was compared with the accepted ones.
    """

    question: str
    about: str
    run: int
    look: int
    test: str | None
    statistic: float | None
    p_value: float | None
    p_adjusted: float | None
    effect: str | None
    effect_size: float | None
    low: float | None
    high: float | None
    alarm: bool
    text: Text
    reason: Text | None
    details: Mapping[str, float] = field(default_factory=dict)
    """Further sizes by name: psi, wasserstein ...; of ``worse`` over nights ``accepted_nights``, ``nights``,
    ``change_look`` (the look at which a drop most likely began), ``lag1_correlation`` and ``lag1_p_value``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRecord:
    """What a run adds to the evidence of a model since the accepted runs, and where that stands.

    ``value`` and ``standard_error`` are the metric on the ``n_new`` units (examples or clusters) of this run that no
    earlier one held: a night. ``value_since`` is the mean of the nights since the ``accepted`` runs, ``n_since`` their
    units, ``low`` and ``high`` limits that hold over all looks at once for independent normal nights;
    ``values_accepted`` and ``values_since`` are the nights that the alarm compares, in order. ``id_sample`` holds
    digests of some new ids (with the first model of a run, for all), by which later runs know them.
    """

    model: str
    metric: str
    run: int
    look: int
    unit: Literal["example", "cluster"]
    n_new: int
    value: float | None
    n_since: int
    value_since: float | None
    level: float
    low: float | None
    high: float | None
    standard_error: float | None = None
    accepted: tuple[int, ...] = ()
    values_accepted: tuple[float, ...] = ()
    values_since: tuple[float, ...] = ()
    id_sample: tuple[str, ...] = ()
    reason: Text | None = None


ResultFields = Mapping[str, Any]
"""Some of the fields of ``Results``, by name."""

SCHEMA = "evalreport/results/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """Everything that ``evaluate()`` found; the field names are the keys of results.json."""

    schema: str = SCHEMA
    signature: str
    options: JsonObject
    task: str
    design: str
    n: int
    classes: tuple[str, ...]
    positive: str | None
    models: tuple[str, ...]
    primary_metric: str
    baseline: str | None
    inputs: tuple[InputRecord, ...]
    suite: tuple[str, ...] = ()
    """The tasks of a suite, over which every value is a mean (or over all of their examples)."""
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
    attempt_variance: tuple[AttemptVarianceRecord, ...] = ()
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
    unanimity: tuple[UnanimityRecord, ...] = ()
    judge_estimates: tuple[JudgeEstimateRecord, ...] = ()
    judge_agreement: tuple[JudgeAgreementRecord, ...] = ()
    judge_bias: tuple[JudgeBiasRecord, ...] = ()
    gold_sampling: tuple[GoldSamplingRecord, ...] = ()
    verdicts: tuple[VerdictRecord, ...] = ()
    second_verdicts: tuple[VerdictRecord, ...] = ()
    """The same of the metric that a reader asks for next (``COMPANIONS``): a family of its own, corrected by itself."""
    task_verdicts: tuple[TaskVerdictRecord, ...] = ()
    """Of a suite: the same within each task, a family of its own over tasks and pairs."""
    gates: tuple[GateRecord, ...] = ()
    history: tuple[HistoryRecord, ...] = ()
    audit: tuple[AuditRecord, ...] = ()
    evidence: tuple[EvidenceRecord, ...] = ()
    warnings: tuple[WarningRecord, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def to_frame(self, name: str) -> pd.DataFrame:
        """Return one of the lists as a flat pandas frame: ``metrics``, ``comparisons``, ``curves``, ``verdicts`` ...

        Metrics have ``low``, ``high`` and ``interval_method`` of the recommended interval, curves a row for each point.

        Raises
        ------
        UsageError
            There is no list of that name, or no pandas.
        """
        from evalreport.schema.frames import frame_of, record_lists

        lists = record_lists(Results)
        if name not in lists:
            raise UsageError(unknown_name("list", name, lists))
        return frame_of(getattr(self, name), lists[name])

    def summary(self) -> str:
        """Return the verdict, the table and the cautions as text in Markdown: what stands in summary.md."""
        import evalreport

        return evalreport.shown(self, "summary")

    def __repr__(self) -> str:
        import evalreport

        return evalreport.shown(self, "screen")

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        import evalreport

        return evalreport.shown(self, "notebook")


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


def _entry(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _ENCODE(value)
    return "[\n  " + ",\n  ".join(map(_ENCODE, value)) + "\n ]"


def _plain(value: object) -> object:
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


def _fields(record: object) -> dict[str, object]:
    kind: type = type(record)
    return {name: _plain(getattr(record, name)) for name in _names(kind)}


def _said(text: Text) -> dict[str, object]:
    """Give a sentence's code and parameters; of several joined ones those of the first, with the others as notes."""
    first, *notes = map(_coded, joined(text))
    return first | ({"notes": notes} if notes else {}) if first else {}


def _coded(text: Text) -> dict[str, object]:
    return {"code": text.code, "params": _params(text)} if isinstance(text, Message) else {}


def _params(message: Message) -> dict[str, object]:
    """Give the parameters as JSON has them; a message among them keeps its own code and parameters."""

    def plain(value: object) -> object:
        if isinstance(value, Message):
            return _coded(value)
        if isinstance(value, (list, tuple)):
            return [plain(v) for v in value]
        return _plain(value)

    return {name: plain(value) for name, value in message.params.items()}


@cache
def _names(record: type) -> tuple[str, ...]:
    return tuple(f.name for f in dataclasses.fields(record))
