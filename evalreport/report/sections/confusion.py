"""Confusion matrices: tables for few classes, heat maps for several."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from evalreport import numbers
from evalreport.plots.pairs import confusion
from evalreport.plots.pictures import Figure
from evalreport.report.table import Cell, Row, Table
from evalreport.report.view import Model, View
from evalreport.schema.lookups import confusion_of
from evalreport.texts import say
from evalreport.texts.visible import distinct_names

MOST_CLASSES_IN_TABLE = 15
MOST_HEAT_MAPS, MANY_CLASSES = 9, 8
LEAST_SIZE = 4.4  # inches, of the only matrix: as wide as other single panels
LONGEST_LABEL, LONGEST_OF_THREE = 16, 8


@dataclass(frozen=True, slots=True)
class Confusion:
    """What the section shows: a table of each model for few classes, heat maps for three or more."""

    matrices: tuple[tuple[Model, Table], ...]
    figure: Figure | None
    note: str


def describe_confusion(view: View) -> Confusion | None:
    """Lay out the matrices of every model that has one."""
    models = [m for m in view.models if any(c.model == m.id for c in view.results.confusion)]
    if not models or not view.results.classes:
        return None
    classes = view.results.classes
    answers = tuple(dict.fromkeys((*classes, *(cell.predicted for cell in view.results.confusion))))
    if len(answers) == 2 and view.results.positive is not None:
        return None  # the section of cases has all four counts
    shown = distinct_names(answers, 24)
    few = len(classes) <= MOST_CLASSES_IN_TABLE
    matrices = tuple((model, _matrix(view, model, shown)) for model in models) if few else ()
    figure = _figure(view, models) if len(classes) > 2 else None
    note = say("confusion.note") if few else say("confusion.many_classes")
    return Confusion(matrices, figure, note)


def _matrix(view: View, model: Model, shown: dict[str, str]) -> Table:
    """Count a model's answers by true class; what counts as wrong because it is missing has a column, too."""
    cells = confusion_of(view.results, model.id)
    rows = []
    for true in view.results.classes:
        counts = {predicted: cells.get((true, predicted), 0.0) for predicted in shown}
        total = sum(counts.values())
        row = tuple(
            Cell(
                numbers.count(n),
                numbers.share(n, total),
                look=f"step-{round(5 * n / total) if total else 0}"
                + (" correct" if predicted == true else ""),
                strong=False,
            )
            for predicted, n in counts.items()
        )
        rows.append(Row(None, (*row, numbers.count(total)), shown[true]))
    look = "confusion-table" + (" many" if len(shown) > MANY_CLASSES else "")
    return Table(
        say("confusion.of", model=model.name), (*shown.values(), say("confusion.total")), tuple(rows), look=look,
        first=say("confusion.corner"),
    )  # fmt: skip


def _figure(view: View, models: list[Model]) -> Figure:
    drawn = models[:MOST_HEAT_MAPS]
    labels = tuple(distinct_names(view.results.classes, LONGEST_LABEL).values())
    longest = max(map(len, labels))
    columns = min(len(drawn), 3 if longest <= LONGEST_OF_THREE else 2)
    # Labels are left of the matrix and, slanted, below it.
    size = 2.4 + 0.08 * min(len(labels), 12) + 0.06 * longest
    return Figure(
        name="confusion",
        title=say("confusion.title"),
        description=say("confusion.described", names=", ".join(m.name for m in drawn)),
        caption=say("confusion.caption"),
        draw=tuple(
            partial(confusion, view.results, model.id, name=model.name, labels=labels) for model in drawn
        ),
        width=max(size * columns, LEAST_SIZE),
        height=max(size * -(-len(drawn) // columns), LEAST_SIZE if columns == 1 else 0),
        columns=columns,
    )
