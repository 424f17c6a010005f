"""The results of a run, and their JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from evalreport.errors import OutputError, UsageError
from evalreport.questions.declared_lists import RoomLists
from evalreport.registry import unknown_name
from evalreport.schema.audit import AuditRecord, EvidenceRecord, HistoryRecord
from evalreport.schema.comparisons import (
    AgreementRecord,
    ComparisonRecord,
    DisagreementRecord,
    EffectRecord,
    RankingRecord,
    UnanimityRecord,
    VarianceRecord,
)
from evalreport.schema.decisions import GateRecord, HeadlineRecord, TaskVerdictRecord, VerdictRecord
from evalreport.schema.findings import ChangeRecord, FindingRecord
from evalreport.schema.inputs import LONGEST_NAME, FlowRecord, FoundRecord, InputRecord, JsonObject
from evalreport.schema.metrics import (
    MEANS_OF_A_COLUMN,
    ConfusionRecord,
    FoldRecord,
    MetricRatioRecord,
    MetricRecord,
    ResidualRecord,
)
from evalreport.schema.warnings import CheckRecord, WarningRecord
from evalreport.texts import Message, coded, english, joined, speaking
from evalreport.texts.units import in_units, speaking_of
from evalreport.texts.visible import escaped_json

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


SCHEMA = "evalreport/results/2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(RoomLists):
    """The results of ``evaluate()``; the field names are the keys of results.json.

    >>> import evalreport as er
    >>> results = er.compare([1, 0] * 20, {"tree": [1, 0] * 20, "coin": [1, 1] * 20}, resamples=100)
    >>> results.best
    'tree'

    ``verdict`` is the first sentence, ``best`` the model that is better than all others (or None), ``pairs`` a frame
    of all pairs. ``to_frame("metrics")`` gives any list as a pandas frame: metrics, comparisons, verdicts, gates,
    warnings, curves, calibration, ... The same lists are attributes, and their records have the fields as attributes.

    ``to_html()`` is the report as one page, ``to_markdown()`` its summary, ``to_pdf(path)`` writes the PDF,
    ``save(folder)`` everything; ``to_json()`` and ``to_dict()`` are results.json, and ``from_json`` reads it.
    ``board()``, ``plot_pairs()`` and ``plot_calibration()`` are matplotlib figures.
    """

    schema: str = SCHEMA
    signature: str
    options: JsonObject
    task: str
    design: str
    n: int
    classes: Sequence[str]
    positive: str | None
    models: Sequence[Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)]]
    primary_metric: str | None
    usual_metric: str | None = None
    """The metric that would have been the primary one of the task by itself, where another one is."""
    primary_because: Message | None = None
    """Why the primary metric is not the usual one of the task; None where it is, or where it was named."""
    value_columns: Sequence[str] = ()
    """The headers of the columns of outcomes or values, as the files spell them."""
    unit: str | None = None
    """What sums are added up over, by the name of the ids: document, image ..., else unit; None of other tasks."""
    labels_at_half: Sequence[str] = ()
    """Models whose labels are their probabilities cut at 0.5, a threshold that nobody chose."""
    baseline: str | None
    inputs: Sequence[InputRecord]
    suite: Sequence[str] = ()
    """The tasks of a suite, over which every value is a mean (or over all of their examples)."""
    found: Sequence[FoundRecord] = ()
    flow: Sequence[FlowRecord] = ()
    """The cases that were read, left out and used; empty where rows are counts or each model has its own."""
    metrics: Sequence[MetricRecord] = ()
    folds: Sequence[FoldRecord] = ()
    confusion: Sequence[ConfusionRecord] = ()
    residuals: Sequence[ResidualRecord] = ()
    comparisons: Sequence[ComparisonRecord] = ()
    comparisons_left_out: int = 0
    """Pairs on other metrics than the primary one that were not compared, since there are more than 20 models."""
    variance: Sequence[VarianceRecord] = ()
    ranking: Sequence[RankingRecord] = ()
    effects: Sequence[EffectRecord] = ()
    agreement: Sequence[AgreementRecord] = ()
    disagreements: Sequence[DisagreementRecord] = ()
    unanimity: Sequence[UnanimityRecord] = ()
    verdicts: Sequence[VerdictRecord] = ()
    second_verdicts: Sequence[VerdictRecord] = ()
    """Verdicts on the first companion of the primary metric (``COMPANIONS``): a family of its own, corrected alone."""
    task_verdicts: Sequence[TaskVerdictRecord] = ()
    """Verdicts within each task of a suite: a family of its own over tasks and pairs."""
    gates: Sequence[GateRecord] = ()
    metric_ratios: Sequence[MetricRatioRecord] = ()
    """Ratios of two models' values that gates ask for (``new.accuracy >= 0.95 * old.accuracy``)."""
    headline: HeadlineRecord | None = None
    """The first sentence, which every output prints; None of records that were put together without one."""
    history: Sequence[HistoryRecord] = ()
    audit: Sequence[AuditRecord] = ()
    evidence: Sequence[EvidenceRecord] = ()
    warnings: Sequence[WarningRecord] = ()
    checks: Sequence[CheckRecord] = ()
    """Every check that the program knows, with its state."""
    findings: Sequence[FindingRecord] = ()
    changes: Sequence[ChangeRecord] = ()
    """Of an audit: facts of the run that differ from the accepted run."""
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # What JSON has as a list is one here, too: ``results.gates == []``.
        for entry in dataclasses.fields(self):
            value = getattr(self, entry.name)
            if isinstance(value, tuple):
                object.__setattr__(self, entry.name, list(value))

    @property
    def shown_metric(self) -> str:
        """The metric that tables and charts begin with: the primary one, or the usual one where none is primary."""
        return self.primary_metric or self.usual_metric or ""

    @property
    def deciding_level(self) -> float:
        """The confidence level of pairs and gates: one minus the look's level, else ``--confidence``."""
        if self.looks is not None:
            return 1 - self.looks.level
        return float(self.options.get("confidence", 0.95))

    @property
    def is_blocked(self) -> bool:
        """Whether the data allow no verdict: no model is then called best or first."""
        return self.headline is not None and self.headline.code == "blocked"

    @property
    def primary_column(self) -> str | None:
        """The user's column whose mean the primary metric is; None for any other metric."""
        return self.value_column if self.shown_metric in MEANS_OF_A_COLUMN else None

    @property
    def value_column(self) -> str:
        """The user's column of outcomes or values, by its header where the models share one."""
        shared = len(self.value_columns) == 1
        return self.value_columns[0] if shared else "outcome" if self.task == "outcome" else "value"

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

    @property
    def pairs(self) -> pd.DataFrame:
        """Every pair on every metric as a pandas frame, with the interval and the test that lead, and the verdict."""
        import evalreport
        from evalreport.schema.frames import table

        return table(evalreport.pairs_of(self))

    @property
    def verdict(self) -> str:
        """The first sentence of the report."""
        if self.headline is None:
            return ""
        with speaking_of(self.unit):
            return str(self.headline.text)

    @property
    def best(self) -> str | None:
        """The model that is better than each of the others; None where that is open, or there is no other."""
        wins = Counter(
            record.about[record.verdict == "worse"]
            for record in self.verdicts
            if record.verdict in ("better", "worse")
        )
        rivals = len(self.models) - 1
        return next((model for model, n in wins.items() if n == rivals), None)

    @staticmethod
    def from_json(source: str | bytes | PathLike[str]) -> Results:
        """Read saved results: the text of a results.json, its path, an output folder, or a report.pdf.

        Raises
        ------
        InputError
            There is no results.json, it is no JSON, or a part has another type, which the message names.
        """
        import evalreport

        return evalreport.saved(source)

    def to_json(self) -> str:
        """Return the text of results.json."""
        return to_json(self).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return the content of results.json: lists, mappings, numbers and texts."""
        return to_dict(self)

    def to_html(self, **options: Any) -> str:
        """Return report.html, one page that works offline; options as ``evalreport.render`` takes them."""
        import evalreport

        return evalreport.document(self, "html", **options).decode()

    def to_pdf(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write report.pdf under a path of your own, and return it.

        Raises
        ------
        OutputError
            It could not be made, or not be written.
        """
        import evalreport

        place = Path(path)
        content = evalreport.document(self, "pdf", **options)
        try:
            place.write_bytes(content)
        except OSError as error:
            raise OutputError(f"cannot write {place}: {error.strerror or error}") from None
        return place

    def to_markdown(self) -> str:
        """Return the verdict, the table and the cautions: the text of summary.md."""
        import evalreport

        return evalreport.shown(self, "summary")

    summary = to_markdown

    def save(self, folder: str | PathLike[str] = "evalreport-out", **options: Any) -> tuple[Path, ...]:
        """Write the report into a folder, and return the paths; ``formats`` and the others as ``evalreport.render``."""
        import evalreport

        return evalreport.render(self, folder, **options).paths

    def board(self) -> Figure:
        """Draw each model's value of the first metric with its interval, as a matplotlib figure."""
        import evalreport

        return evalreport.figure_of(self, "values")

    def plot_pairs(self) -> Figure:
        """Draw the paired differences with their intervals, as a matplotlib figure."""
        import evalreport

        return evalreport.figure_of(self, "forest")

    def plot_calibration(self) -> Figure:
        """Draw a calibration curve of each model, as a matplotlib figure.

        Raises
        ------
        UsageError
            No model has probabilities, whose calibration could be drawn.
        """
        import evalreport

        return evalreport.figure_of(self, "calibration_curve")

    def __repr__(self) -> str:
        import evalreport

        return evalreport.shown(self, "screen")

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        import evalreport

        return evalreport.shown(self, "notebook")


SENTENCES = "sentences"
"""The key of results.json that is no field: code and parameters of every sentence, by its English text.

With it saved results are the same again as those of the run.
"""

LISTS_WITH_CODE = ("verdicts", "second_verdicts", "warnings")
"""Lists whose records are written with code and parameters of their own sentence."""

_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode
# With an indent the encoder is written in Python, and ten times slower; so records are set on lines here.


def to_json(results: Results) -> bytes:
    """Write results as UTF-8 JSON, a record on each line: sorted keys, no NaN, the same bytes for the same results."""
    entries = [f"{_ENCODE(name)}: {_entry(value)}" for name, value in sorted(to_dict(results).items())]
    text = "{\n " + ",\n ".join(entries) + "\n}\n"
    # A lone surrogate in a name has no UTF-8; written as an escape it is JSON all the same.
    return escaped_json(text).encode("utf-8", "backslashreplace")


def _entry(value: object) -> str:
    if not isinstance(value, list) or not value:
        return _ENCODE(value)
    return "[\n  " + ",\n  ".join(map(_ENCODE, value)) + "\n ]"


def to_dict(results: Results) -> dict[str, Any]:
    """Return results as JSON has them: lists, mappings, numbers and English texts; a number that is none is None."""
    sentences: dict[str, JsonObject] = {}

    def said(message: Message) -> str:
        text, code = str(message), _coded(message)
        # One text of two codes is the same words in English; the first code in order is kept.
        if code and (text not in sentences or _ENCODE(code) < _ENCODE(sentences[text])):
            sentences[text] = code
        return text

    with speaking(in_units(results.unit, english())):
        content = _plain(dataclasses.replace(results, verdicts=(), second_verdicts=(), warnings=()), said)
        for name in LISTS_WITH_CODE:
            records = getattr(results, name)
            rows = _plain(records, str)
            content[name] = [
                _code_and_params(record.text) | row for record, row in zip(records, rows, strict=True)
            ]
    return {**content, SENTENCES: sentences}


def _plain(value: object, said: Callable[[Message], str]) -> Any:
    """Return records as plain values, a message as what is ``said`` of it."""

    def other(part: object) -> object:
        if isinstance(part, Message):
            return said(part)
        if isinstance(part, Mapping):
            return dict(part)
        if isinstance(part, float):
            return float(part)  # of numpy
        raise TypeError(f"results hold a {type(part).__name__}")

    return _finite(msgspec.to_builtins(value, enc_hook=other))


def _finite(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is dict:
        return {str(key): _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if kind in (list, tuple) else value


def _code_and_params(text: Message) -> JsonObject:
    """Return the code and the parameters of a sentence; of joined sentences the first one's, the others as notes."""
    first, *notes = map(_coded, joined(text))
    return {**first, **({"notes": notes} if notes else {})} if first else {}


def _coded(text: str | Message) -> JsonObject:
    """Return the code of a sentence and its parameters, in which a message keeps its own; none of a plain text."""
    code, params = coded(text)
    if not code:
        return {}

    def written(message: Message) -> Any:
        return _coded(message) or str(message)

    return {"code": code, "params": _plain(params, written)}
