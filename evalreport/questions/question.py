"""A question: a function from a run to its answer, and the table of all questions.

The fields of an answer that are lists of results.json become those of the results; its warnings see the whole answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from evalreport.comparisons.decisions import Decision
from evalreport.comparisons.pairs import Comparison
from evalreport.extensions import ROOMS, files_of_rooms
from evalreport.metrics.primary import Primary
from evalreport.metrics.registry import Quantity
from evalreport.metrics.sample import Sample
from evalreport.options import Options
from evalreport.predictions.slicing import Division
from evalreport.predictions.table import Predictions
from evalreport.questions.looks.records import Look
from evalreport.registry import Registry
from evalreport.schema.comparisons import ComparisonRecord
from evalreport.schema.metrics import Interval
from evalreport.schema.results import Results


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What is compared, and under which options.

    Attributes
    ----------
    whole
        Everything that was loaded: training rows and every point of a learning curve, too.
    loaded
        One point of the learning curves.
    predictions
        The rows that metrics and comparisons are about.
    within_slices
        The quantities that gates ask for within slices.
    deciding
        The options with the level of pairs and gates: that of the look, where there are several.
    """

    whole: Predictions
    loaded: Predictions
    predictions: Predictions
    divisions: tuple[Division, ...]
    quantities: tuple[Quantity, ...]
    within_slices: frozenset[Quantity]
    default: Primary
    options: Options
    deciding: Options
    look: Look | None

    @property
    def blocked(self) -> bool:
        """Whether no metric is primary, so that no pair is decided."""
        return self.default.metric is None and not self.options.metrics

    @property
    def primary(self) -> Quantity:
        """The quantity that the family of pairs is decided on."""
        return self.quantities[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The pairs of models: every test, the family that is decided, and the decisions."""

    tested: tuple[Quantity, ...]
    compared: Sequence[Comparison]
    left_out: int
    family: Sequence[Comparison]
    family_rows: Sequence[ComparisonRecord]
    rows: tuple[ComparisonRecord, ...]
    decisions: Sequence[Decision]
    limits: Mapping[tuple[str, str], Interval | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a question may ask of: the data, the estimates, the pairs, the results so far and the earlier answers."""

    data: Data
    samples: Sequence[Sample]
    pairs: Pairs
    results: Results
    progress: Callable[[str, float], None]
    answers: Mapping[str, object] = field(default_factory=dict)

    @property
    def predictions(self) -> Predictions:
        """The rows that metrics and comparisons are about."""
        return self.data.predictions

    @property
    def options(self) -> Options:
        """The options of the run."""
        return self.data.options


@dataclass(frozen=True, slots=True)
class Question:
    """One question: its name, whether it can be asked of a run, and the function that answers it."""

    name: str
    applies: Callable[[Run], bool]
    answer: Callable[[Run], object]


QUESTIONS: Registry[Question] = Registry("question")


def question(
    name: str, *, applies: Callable[[Run], bool] = lambda _: True
) -> Callable[[Callable[[Run], object]], Callable[[Run], object]]:
    """Register the function that answers a question.

    Parameters
    ----------
    name
        That of its room.
    applies
        Whether the question can be asked of a run.
    """

    def register(answer: Callable[[Run], object]) -> Callable[[Run], object]:
        QUESTIONS.add(Question(name, applies, answer))
        return answer

    return register


def answered(run: Run) -> Run:
    """Return the run with the answers to all questions, in the order of the rooms."""
    for _ in files_of_rooms("compute"):
        pass  # each registers its question
    for asked in (QUESTIONS[room] for room in ROOMS):
        if asked.applies(run):
            answer = asked.answer(run)
            run = replace(
                run, answers={**run.answers, asked.name: answer}, results=with_lists(run.results, answer)
            )
    return run


LISTS = frozenset(entry.name for entry in fields(Results))


def with_lists(results: Results, answer: object) -> Results:
    """Return results with the lists of an answer behind those that are there; what is no list takes its place."""
    names = [entry.name for entry in fields(answer) if entry.name in LISTS]  # type: ignore[arg-type]
    given = {name: getattr(answer, name) for name in names}
    longer: Any = {n: (*getattr(results, n), *v) if isinstance(v, tuple) else v for n, v in given.items()}
    return replace(results, **longer)
