"""The records of results.json: flat, frozen, free of formatting; each list opens as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evalreport.texts import Message, Text

JsonObject = Mapping[str, Any]
"""An object as JSON has it: results that were written, or a part of them."""

COMPANIONS: Mapping[str, tuple[str, ...]] = {
    "binary": ("roc_auc", "recall", "precision", "f1", "average_precision", "log_loss", "mcc", "accuracy"),
    "multiclass": ("f1", "balanced_accuracy", "log_loss", "mcc", "cohen_kappa", "accuracy"),
    "regression": ("mae", "r2", "mape", "rmse", "mse"),
}
"""What a reader asks for beside the primary metric, by task; the first summary of all has verdicts of its own."""

BESIDE_MAJORITY, BESIDE_MAPE = ("balanced_accuracy", "mcc", "average_precision"), ("mae", "rmse")
"""What tells more where one class is most of the examples, or some true values are nearly 0."""

Verdict = Literal["better", "worse", "equivalent", "non-inferior", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRecord:
    """One input file: path relative to MODELS, SHA-256 of its bytes, rows used, model (null: several)."""

    path: str
    sha256: str
    rows: int
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """One interval; ``low`` and ``high`` are None where the method is dishonest or undefined, with a reason."""

    method: str
    level: float
    low: float | None
    high: float | None
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A subgroup: a metadata column and one of its values."""

    column: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRecord:
    """One model's value of one metric with its intervals, the recommended one first.

    ``trials``: of how many independent examples that count the same the value is a share; None where it is no such
    proportion. Gates are decided by the exact limits that follow from it.
    """

    model: str
    metric: str
    average: str | None = None
    label: str | None = None
    slice: Slice | None = None
    value: float | None = None
    standard_error: float | None = None
    n: int
    reason: Text | None = None
    intervals: tuple[Interval, ...] = ()
    formula: str | None = None
    """The definition with this model's counts filled in, where the metric is a function of counts."""
    n_effective: float | None = None
    """Under weights Kish's effective number of examples."""
    clusters_effective: float | None = None
    """The effective number of clusters G* where examples of one are wholly alike."""
    clusters: int | None = None
    """How many clusters hold the ``n`` examples, where whole clusters are drawn."""
    trials: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityRecord:
    """How one slice differs from a reference, for one model and metric: slice minus reference, and their ratio.

    ``reference``: ``rest`` (all other examples; tested on the primary metric), ``whole`` (all examples, the slice
    among them) or ``best`` (the best slice of the column that is large enough, named in ``reference_value``).
    ``level``: simultaneous over the family of tests (rest and whole, primary metric) or over all pairs of the
    column's slices (best). ``p_value`` is that of ``test``; ``p_adjusted``, over the family, may start from a larger
    one (docs/slices.md). ``flagged``: ``p_adjusted`` is at or below 1 - confidence; the limits leave 0 out exactly then
    (cut or stretched, as ``method`` says). ``reason`` says why a slice is too small to judge, or a limit is missing.
    """

    model: str
    metric: str
    average: str | None
    label: str | None
    slice: Slice
    reference: Literal["rest", "whole", "best"]
    reference_value: str | None = None
    difference: float | None
    low: float | None
    high: float | None
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    level: float
    method: str | None
    test: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    correction: str | None = None
    flagged: bool = False
    n: int
    reason: Text | None
    text: Text | None = None


def distinct_tests(rows: Iterable[DisparityRecord]) -> int:
    """Count the tests of slices against the rest: of a column with two values each is the other's rest, so one test."""
    tested: dict[tuple[str, str], dict[str, bool]] = {}
    for row in rows:
        if row.reference == "rest":
            of_column = tested.setdefault((row.model, row.slice.column), {})
            of_column[row.slice.value] = of_column.get(row.slice.value, False) or row.p_adjusted is not None
    return sum(min(sum(each.values()), 1 if len(each) == 2 else len(each)) for each in tested.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRecord:
    """The value that a metric reaches without a model, by one constant answer or by guessing.

    ``name``: majority_class, random_prevalence, random_even or mean_truth. ``text`` says what it does; ``reason``
    why a value stands by convention.
    """

    name: str
    metric: str
    average: str | None
    label: str | None
    value: float
    text: Text
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldRecord:
    """One model's value of one metric on one fold."""

    model: str
    repeat: str | None
    fold: str | None
    metric: str
    average: str | None
    label: str | None
    value: float | None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionRecord:
    """One cell of one model's confusion matrix."""

    model: str
    true: str
    predicted: str
    count: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRecord:
    """One test (or one interval) of the difference a - b of one metric."""

    a: str
    b: str | None
    metric: str
    average: str | None = None
    label: str | None = None
    slice: Slice | None = None
    test: str
    statistic: float | None
    df: float | None = None
    p_value: float | None
    p_adjusted: float | None = None
    correction: str | None = None
    difference: float | None = None
    level: float
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None
    effect: str | None = None
    effect_size: float | None = None
    recommended: bool
    caution: Text | None = None
    reason: Text | None = None
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of a test by name: second degrees of freedom, posterior probabilities ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OmnibusRecord:
    """One test of all models at once; ``by`` and ``blocks`` say what the models were compared on, and on how many."""

    metric: str
    test: str
    statistic: float | None
    df: float | None
    p_value: float | None
    models: tuple[str, ...]
    df2: float | None = None
    by: str = "examples"
    blocks: int | None = None
    caution: Text | None = None
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AverageRankRecord:
    """One model's average rank over the blocks, 1 the best; average ranks that differ by less than
    ``critical_difference`` are not told apart by Nemenyi's test at ``level``.
    """

    metric: str
    model: str
    average_rank: float
    by: str
    blocks: int
    critical_difference: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceRecord:
    """How much a value varies, and with what: ``source`` is ``seeds``, ``replicates`` or ``test set``.

    Between seeds or replicates: the variance (divisor J - 1) of the values of single fits on the same test
    examples. Test set: the squared standard error of the mean value, from the examples.
    """

    model: str
    metric: str
    source: str
    value: float
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptVarianceRecord:
    """How much of a variance lies between questions and how much between the attempts at one question.

    It is that of one model's mean, or where ``b`` is given of the difference ``model`` - ``b`` by question.
    ``attempts`` is their mean number. ``share_within`` = within / (between + within), of a single attempt's outcome.
    ``se_now`` is the standard error of the mean over questions, ``se_more_attempts`` what twice the attempts at these
    questions would make of it, ``se_more_questions`` twice the questions. ``within`` and what follows from it is null
    where each question was answered once.
    """

    model: str
    metric: str
    n_questions: int
    attempts: float
    between: float
    within: float | None
    share_within: float | None
    se_now: float
    se_more_attempts: float | None
    se_more_questions: float
    b: str | None = None
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingRecord:
    """One model's place on the primary metric; models that share a letter cannot be told apart."""

    model: str
    metric: str
    value: float | None
    rank: int
    letters: str


CUT, STRETCHED = "cut at 0", "stretched to 0"
"""How the method of a verdict's interval ends where the limits alone and the test say different things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectableRecord:
    """The smallest ``difference`` that an undecided pair's test could reliably detect.

    ``needed`` is how many of ``unit`` it would take to detect the observed difference, ``gold`` how many of these would
    have to be judged by people; null where the test could detect the observed difference already.
    """

    difference: float
    unit: Literal["examples", "clusters", "judged", "datasets"]
    needed: int | None = None
    gold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRecord:
    """What may be said of a seen from b on the primary metric.

    ``low`` and ``high`` are the pair's one interval, simultaneous over the family, of which every table and chart
    speaks; ``method`` says how it was made. It excludes 0 exactly where the adjusted p-value of the recommended test
    decides the pair: a limit that was ``cut at 0`` is no part of it.
    """

    about: tuple[str, str]
    metric: str
    verdict: Verdict
    level: float
    low: float | None
    high: float | None
    text: Text
    method: str | None = None
    detectable: DetectableRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskVerdictRecord:
    """What may be said of a seen from b within one task of a suite, on the primary metric.

    The family is every pair in every task, each by its task's own recommended ``test``: p-values are adjusted and
    intervals simultaneous over all of them.
    """

    task: str
    about: tuple[str, str]
    metric: str
    verdict: Verdict
    difference: float | None
    level: float
    low: float | None
    high: float | None
    method: str | None
    test: str
    p_value: float | None
    p_adjusted: float | None
    correction: str | None
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRecord:
    """One gate: pass, fail or undecided, by the interval."""

    gate: str
    outcome: Literal["pass", "fail", "undecided"]
    value: float | None
    low: float | None
    high: float | None
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryRecord:
    """How one model's value changed since an earlier run of the series: ``difference`` is now - then.

    ``reference`` is ``accepted`` or ``last``, ``run`` and ``time`` say which run that was. ``paired``: both runs on
    the same examples. ``text`` says what was compared with what; the p-value is that of one look.
    """

    reference: Literal["accepted", "last"]
    run: int
    time: str
    model: str
    metric: str
    average: str | None
    label: str | None
    value: float | None
    reference_value: float | None
    difference: float | None
    level: float
    low: float | None
    high: float | None
    interval_method: str | None
    test: str | None
    p_value: float | None
    paired: bool
    text: Text
    reason: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """How large a difference is, in one of the usual sizes with its limits; ``text`` says it in words.

    ``unit`` is what the size is over: example, fold, replicate, seed or dataset.
    """

    a: str
    b: str
    metric: str
    effect: str
    value: float | None
    low: float | None
    high: float | None
    text: Text
    unit: str = "example"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRecord:
    """On how many examples both models of a pair are right, only the first, only the second, neither."""

    a: str
    b: str
    metric: str
    both: float
    only_a: float
    only_b: float
    neither: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEstimateRecord:
    """What the judge gains: one model's mean outcome, or a pair's difference a - b, by the judge, by people, by both.

    ``judge`` is over all n examples, ``human`` over the ``n_gold`` that people judged (of both models), ``value`` is
    the estimate from both (PPI++), in which the judge counts ``lam`` (0 to 1). Limits are at ``level``; those of a
    pair's value are its one interval. ``gold_effective`` is how many examples people alone would have had to judge for
    as small an error. ``correlation`` is that of judge and people on these examples, ``sd`` the standard deviation of
    what people say there: `evalreport plan` goes by both. Of a suite ``fewest_task`` is the task of which people judged
    least answers, ``fewest_gold`` how many.
    """

    a: str
    b: str | None
    judge: float
    human: float | None = None
    human_low: float | None = None
    human_high: float | None = None
    human_method: str | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: str | None = None
    level: float
    lam: float | None = None
    n_gold: int
    n: int
    gold_effective: float | None = None
    correlation: float | None = None
    sd: float | None = None
    fewest_task: str | None = None
    fewest_gold: int | None = None
    reason: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreementRecord:
    """How judge and people agree on the answers that people judged; ``model`` None: on those of all models.

    Of outcomes of 0 and 1: on how many both say 1, only the judge, only people, neither; Cohen's kappa. ``bias`` is the
    mean of the judge's outcome less people's. ``clusters``: how many hold such answers, where whole clusters are drawn.
    """

    model: str | None
    n_gold: int
    clusters: int | None
    agreement: float | None
    both: int | None
    judge_only: int | None
    human_only: int | None
    neither: int | None
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    kappa_method: str | None
    bias: float
    bias_low: float | None
    bias_high: float | None
    level: float
    reason: Text | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBiasRecord:
    """The judge's bias on a less that on b: on the same examples, or on each model's own where few are the same.

    ``p_adjusted`` is over all pairs; ``flagged``: it is at or below 1 - confidence, so the judge favours one of them.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    level: float
    p_value: float | None
    p_adjusted: float | None
    correction: str
    n_gold: int
    flagged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldSamplingRecord:
    """A test of whether people judged a random part of the answers.

    ``about``: ``outcome`` (the judge's mean outcome of a model's answers with ``gold`` and of the ``rest``), ``model``
    or ``task`` (largest and smallest share with gold, and whose these are: ``most``, ``least``).
    """

    about: str
    model: str | None
    test: str
    gold: float | None
    rest: float | None
    p_value: float
    p_adjusted: float
    most: str | None = None
    least: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UnanimityRecord:
    """On how many examples all models are right, and on how many all are wrong; on the others they disagree.

    ``label`` is the true class, None over all examples.
    """

    label: str | None
    n: int
    all_right: int
    all_wrong: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementRecord:
    """One model's answer to one of the examples on which the models disagree most, the widest first.

    ``spread`` is how far the answers lie apart (``measure`` says in what); ``correct`` is None for numbers.
    """

    id: str
    truth: str | None
    model: str
    answer: str
    correct: bool | None
    spread: float
    measure: Text


Level = Literal["info", "caution", "blocker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRecord:
    """One automatic warning with its stable code; ``about`` names models, metrics or columns.

    A blocker leaves the numbers and takes the verdict; ``info`` changes no reading of it.
    """

    code: str
    text: Text
    about: tuple[str, ...] = ()
    level: Level = "caution"


# The levels of each warning that is more, or less, than a caution; the first is the usual one.
LEVELS: Mapping[str, tuple[Level, ...]] = {
    "trained_on_test": ("blocker",),
    "gold_not_random": ("blocker", "caution", "info"),
    **dict.fromkeys(("few_passes", "folds_taken_as_independent"), ("caution", "info")),
    **dict.fromkeys(("curves_cross", "guessed_task", "threshold_chosen_here"), ("caution", "info")),
    **dict.fromkeys(("clustering_bootstrap", "guessed_probability", "identical_answers"), ("info",)),
    **dict.fromkeys(("column_differs_between_attempts", "unlike_attempts", "one_slice"), ("info",)),
    **dict.fromkeys(("undefined_value", "tied_scores", "noise_in_bias", "several_comparisons"), ("info",)),
    **dict.fromkeys(("prevalence_of_this_set", "overlap_is_no_test", "reused_test_set"), ("info",)),
}


def levels_of(code: str) -> tuple[Level, ...]:
    """Return the levels that a warning can have, the usual one first."""
    return LEVELS.get(code, ("caution",))


def warning(
    code: str,
    /,
    text: str = "",
    *,
    about: tuple[str, ...] = (),
    level: Level | None = None,
    **params: object,
) -> WarningRecord:
    """Make a warning, of its usual level where none is given.

    Its text stands in the catalogue under ``warning.CODE``, or ``warning.CODE.TEXT``; what it means under
    ``meaning.CODE``.
    """
    usual = levels_of(code)
    assert level is None or level in usual, f"{code}: {level} is missing in LEVELS"
    return WarningRecord(
        code=code,
        text=Message(f"warning.{code}{text and '.'}{text}", **params),
        about=about,
        level=level or usual[0],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """One thing that was found in the files and is said: task, design, positive class, threshold ..."""

    what: str
    value: Text
    why: Text
