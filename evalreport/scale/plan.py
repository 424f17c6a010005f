"""How predictions are to be counted: each row as its id and one whole number, and the group-bys over these.

A row becomes (id, one whole number): its true label, its prediction and its slices, each a digit. Grouped by id, the
largest number of each model says all of an example, and how many rows it has says whether a model gives it twice;
grouped by these, one row for each kind of example is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import narwhals as nw
import pyarrow as pa

from evalreport.errors import InputError, UsageError
from evalreport.loading.task import positive_of
from evalreport.options import Options
from evalreport.predictions.spelling import in_order, one_spelling
from evalreport.scale.engines import Engine, Frame
from evalreport.scale.label_sources import (
    COUNT,
    PREDICTION,
    TRUTH,
    Graded,
    LabelledSource,
    Source,
    as_text,
    graded,
    headers_of,
    require_classes,
    without_labels,
)

_ABSENT = -1
"""The number of a model that has no row."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The frames of a count, and how the numbers in them are made.

    Attributes
    ----------
    rows
        One row a row of a source: ``id``, and in ``v<k>`` the number of giver k, -1 of all others.
    by_id
        One row an id: how many rows it has (``n``), and the largest number of each.
    cells
        One row a kind of example, ``count`` of them.
    models
        Whoever gives rows: the models by name, then each file of true values (None).
    digits
        The texts of each digit: the prediction, the true label, each slice, the cluster, the weight.
    graded
        By place among ``models``: what ranks its examples. ``rows`` then has ``s<k>`` and ``p<k>`` of each, and
        ``by_id`` their largest.
    positive
        Of two classes the positive one.
    blank
        The number of a row without an id, above all others.
    """

    rows: Frame
    by_id: Frame
    cells: Frame
    models: tuple[str | None, ...]
    files: tuple[str, ...]
    digits: dict[str, tuple[str, ...]]
    graded: dict[int, Graded]
    positive: str | None
    blank: int

    @property
    def numbers(self) -> tuple[str, ...]:
        """The names of the columns of numbers."""
        return tuple(f"v{place}" for place in range(len(self.models)))


def planned(
    coded: Sequence[LabelledSource], columns: Iterable[str], options: Options, engine: Engine
) -> Plan:
    """Lay out the two group-bys; nothing is counted yet.

    Raises
    ------
    InputError
        Where two sources hold the same model.
    UsageError
        Where the columns have too many values to be digits of one number.
    """
    givers = _givers(coded)
    labels = {
        text for one in coded for name in (TRUTH, PREDICTION) for text in one.values.get(name, {}).values()
    }
    require_classes(labels, options, coded[0].opened.source.name)
    digits = {PREDICTION: tuple(sorted(labels)), TRUTH: tuple(sorted(labels))}
    for column in columns:
        digits[column] = tuple(sorted({t for one in coded for t in one.values.get(column, {}).values()}))
    ranked, positive = _ranked(coded, digits[TRUTH], options)
    blank = math.prod(len(texts) + 1 for texts in digits.values())
    if blank >= 2**62:
        raise UsageError("the columns have too many values together to be counted: name fewer")
    models = tuple(model for model, _ in givers)
    cut = _cut(digits[PREDICTION], positive, options.threshold)
    numbered = (_numbered(one, digits, models, engine, blank, ranked, cut) for one in coded)
    long = nw.concat(list(numbered), how="vertical")
    # Made wide where the rows of an id are together: what moves is the id, its giver, one number and its scores.
    numbers = [f"v{place}" for place in range(len(models))]
    found = ((model, ranked.get(one.opened.source.name)) for one in coded for model in one.models)
    given = {models.index(model): ranking for model, ranking in found if ranking is not None}
    wide = [("number", f"v{place}", place) for place in range(len(models))]
    wide += [("score", f"s{place}", place) for place in given]
    probable = (place for place, ranking in given.items() if ranking.probability is not None)
    wide += [("probability", f"p{place}", place) for place in probable]
    rows = engine.spread(long).with_columns(_only(column, place).alias(name) for column, name, place in wide)
    by_id = rows.group_by("id").agg(nw.len().alias("n"), *(nw.col(name).max() for _, name, _ in wide))
    by_id = engine.keep(by_id) if given else by_id
    return Plan(
        rows=rows,
        by_id=by_id,
        cells=by_id.group_by("n", *numbers).agg(nw.len().alias(COUNT)),
        models=models,
        files=tuple(file for _, file in givers),
        digits=digits,
        graded=given,
        positive=positive,
        blank=blank,
    )


def _only(column: str, place: int) -> nw.Expr:
    """Return a column in the rows of one giver; elsewhere no number (-1) or nothing."""
    own = nw.when(nw.col("giver") == place).then(nw.col(column))
    return own.otherwise(nw.lit(_ABSENT)) if column == "number" else own


def _ranked(
    coded: Sequence[LabelledSource], labels: Sequence[str], options: Options
) -> tuple[dict[str, Graded], str | None]:
    """Return what ranks the examples of each source, by its name, and the positive class: of two classes alone.

    Raises
    ------
    NotLabels
        A source without labels from which none can be cut.
    UsageError
        A threshold where there is nothing to cut.
    """
    sources: dict[str, Graded] = {}
    positive = None
    if len(labels) == 2 and options.task != "multiclass":
        given = [label for one in coded for label in one.opened.roles.probabilities]
        spelling = one_spelling([*labels, *given])
        positive = positive_of(in_order(labels), options.positive, {spelling[label] for label in given})
        predicted = (one for one in coded if not one.opened.source.is_truth)
        columns = ((one, graded(one.opened, labels, positive)) for one in predicted)
        sources = {one.opened.source.name: ranking for one, ranking in columns if ranking is not None}
    unlabelled = [one for one in coded if not (one.opened.source.is_truth or one.opened.labelled)]
    for one in unlabelled:
        ranking = sources.get(one.opened.source.name)
        if ranking is None or (ranking.probability is None and options.threshold is None):
            raise without_labels(one.opened)
    if options.threshold is not None and not unlabelled:
        raise UsageError(
            f"--threshold {options.threshold:g}: "
            "every model gives labels (y_pred), so there is nothing to cut"
        )
    return sources, positive


def _givers(coded: Sequence[LabelledSource]) -> list[tuple[str | None, str]]:
    """Return the givers of rows with their files: the models by name, then the files of true values."""
    owner: dict[str, Source] = {}
    for one in coded:
        source = one.opened.source
        for model in one.models:
            first = owner.setdefault(model, source)
            if first is not source and not (first.part and source.part):
                raise InputError.of(
                    "model_twice", file=source.name, model=model, first=first.name, second=source.name
                )
    truths = [one.opened.source.name for one in coded if one.opened.source.is_truth]
    files = ((model, owner[model].name) for model in sorted(owner))
    return [*files, *((None, file) for file in truths)]


def _numbered(
    one: LabelledSource,
    digits: dict[str, tuple[str, ...]],
    models: Sequence[str | None],
    engine: Engine,
    blank: int,
    ranked: Mapping[str, Graded],
    cut: nw.Expr,
) -> Frame:
    """Turn each row of a source into its id, the position of its giver among ``models``, and its number.

    Where examples are ranked, also into its score and its probability.
    """
    opened = one.opened
    headers = headers_of(opened, [name for name in digits if name not in (TRUTH, PREDICTION)])
    if "model" in one.values:
        headers["model"] = opened.roles.columns["model"]
    texts = {f"t{i}": as_text(opened, header) for i, header in enumerate(headers.values())}
    ranking, none = ranked.get(opened.source.name), nw.lit(math.nan)
    if ranked:
        texts["score"] = none if ranking is None else ranking.ranking
        texts["probability"] = none if ranking is None or ranking.probability is None else ranking.probability
        texts["cut"] = none if ranking is None else ranking.cut
    frame = opened.source.frame.select(as_text(opened, opened.roles.columns["id"]).alias("id"), **texts)
    for i, name in enumerate(headers):
        places = models if name == "model" else digits[name]
        frame = _joined(frame, f"t{i}", f"c{i}", one.values[name], places, engine)
    codes: dict[str, nw.Expr] = {name: nw.col(f"c{i}") for i, name in enumerate(headers)}
    if ranking is not None and not opened.labelled:
        codes[PREDICTION] = cut
    # Horner's rule, the first digit being the highest.
    number: nw.Expr = nw.lit(0)
    for name, values in digits.items():
        number = number * (len(values) + 1)
        number = number + codes[name] if name in codes else number
    if "model" in codes:
        giver: nw.Expr = codes["model"] - 1
    else:
        giver = nw.lit(models.index(one.models[0] if one.models else None))
    return frame.select(
        nw.col("id").fill_null(""),
        giver.cast(nw.Int64).alias("giver"),
        nw.when(nw.col("id").is_null()).then(nw.lit(blank)).otherwise(number).cast(nw.Int64).alias("number"),
        *(["score", "probability"] if ranked else []),
    )


def _cut(labels: Sequence[str], positive: str | None, threshold: float | None) -> nw.Expr:
    """Return the digit of the label that is cut from a probability or a score; 0 where that is empty."""
    threshold = 0.5 if threshold is None else threshold
    yes = 1 + (labels.index(positive) if positive is not None else 0)
    label = nw.when(nw.col("cut") >= threshold).then(nw.lit(yes)).otherwise(nw.lit(3 - yes))
    return nw.when(nw.col("cut").is_null()).then(nw.lit(0)).otherwise(label)


def _joined(
    frame: Frame, text: str, code: str, values: dict[str, str], places: Sequence[str | None], engine: Engine
) -> Frame:
    """Add the code of a text: its position among ``places``, counted from 1; 0 where it is empty."""
    number = {value: i + 1 for i, value in enumerate(places)}
    if not values:
        return frame.with_columns(nw.lit(0).cast(nw.Int64).alias(code))
    codes = pa.array([number[value] for value in values.values()], pa.int64())
    known = pa.table({text: pa.array(list(values), pa.string()), code: codes})
    joined = frame.join(engine.small(known), on=text, how="left")
    return joined.with_columns(nw.col(code).fill_null(0).cast(nw.Int64))
