"""Which header of a prediction file plays which part."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import PurePath

from evalreport.errors import InputError
from evalreport.loading.kinds import kind_of, refuse_no_quantiles, refuse_wide
from evalreport.options import Options
from evalreport.predictions.cells import Kind
from evalreport.predictions.column_names import (
    ALIASES,
    ANSWERS,
    COSTS,
    LONE_PROBABILITIES,
    METRIC_COLUMNS,
    NAMELESS,
    NUMBER_COLUMNS,
    OF_EXAMPLES,
    PROBABILITY_PREFIXES,
    QUESTION,
    aliases_of,
    by_usual_case,
    is_probability,
    spellings,
    usual_case,
)
from evalreport.predictions.platforms import by_target, class_of, classes_by_target
from evalreport.predictions.slicing import may_be_sliced_by
from evalreport.predictions.spelling import is_number
from evalreport.questions.costs.options import cost_name
from evalreport.sources.other_tools import import_of_columns, log_of
from evalreport.texts import Message, say

MOST_CLASSES = 1000


_OF_AN_ARRAY = re.compile(rf"({'|'.join(LONE_PROBABILITIES)})\[(\d+)\]", re.ASCII)


_JUDGED = frozenset(("score", "outcome", "value"))
"""Standard columns that --outcome or --value may take for its own."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Which header plays which part.

    Attributes
    ----------
    columns
        Standard name -> header as the file spells it.
    probabilities
        Label, as the header spells it -> header.
    metadata
        Every other header that has a name.
    unused
        Headers that play no part, with the reason.
    requested
        The metadata that an option may name.
    one_probability
        The header of what may be the one probability of a binary task, which its values and the classes decide; until
        then it is metadata.
    further_probabilities
        Other headers of metadata that may be that probability.
    unlabelled
        Headers of the columns of an (n, K) array of probabilities whose classes are not named, in their order.
    answers
        Of a table of counts: each model's name -> the header of its predictions.
    nameless
        Where there is no id: the header of a column without a name, which is the id if its values tell rows apart.
    guessed_probability
        The header of the one probability of a binary task, once it was taken for that of the positive class.
    costs
        Name of a cost -> header.
    numbers
        Name of a sum, a limit or a quantile -> header.
    rivals
        Standard name -> headers that could be that column as well as the one that was taken.
    correct
        The header of a column ``correct`` beside predictions: judgements, or the true labels, which its values decide.
    joined
        Headers whose texts together are the id.
    """

    columns: Mapping[str, str]
    probabilities: Mapping[str, str]
    metadata: tuple[str, ...]
    unused: Mapping[str, Message]
    requested: frozenset[str] = frozenset()
    one_probability: str | None = None
    unlabelled: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    nameless: str | None = None
    guessed_probability: str | None = None
    costs: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    rivals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    correct: str | None = None
    joined: tuple[str, ...] = ()
    further_probabilities: tuple[str, ...] = ()

    def kinds(self) -> dict[str, Kind]:
        """Say for every header in use how it is to be kept."""
        used = {*self.requested, self.one_probability, *self.further_probabilities}
        kinds: dict[str, Kind] = {h: "metadata" if h in used else "optional" for h in self.metadata}
        kinds |= dict.fromkeys((*self.probabilities.values(), *self.unlabelled), "number")
        of_classes = (h for name, others in self.rivals.items() if name not in self.columns for h in others)
        kinds |= dict.fromkeys(of_classes, "number")
        kinds |= dict.fromkeys((*self.costs.values(), *self.numbers.values()), "metadata")
        if self.nameless is not None:
            kinds[self.nameless] = "text"
        for name, header in self.columns.items():
            for alike in (header, *self.rivals.get(name, ())):
                kinds[alike] = "text" if name == "id" else "number" if name in NUMBER_COLUMNS else "codes"
        kinds |= dict.fromkeys(self.labels, "labels")
        if self.joined:
            kinds = {header: kind for header, kind in kinds.items() if header != self.columns["id"]}
            kinds |= {h: kinds.get(h, "codes") for h in self.joined}
        return kinds

    @property
    def labels(self) -> tuple[str, ...]:
        """Headers of the columns of labels, true values, predictions and outcomes."""
        names = ("y_true", "y_pred", "y_set", "outcome", "gold")
        named = [self.columns[name] for name in names if name in self.columns]
        rivals = [header for name in names for header in self.rivals.get(name, ())]
        return (*named, *rivals, *(() if self.correct is None else (self.correct,)), *self.answers.values())

    def without(self, left_out: Mapping[str, Message]) -> Roles:
        """Leave out the metadata that was not kept, with the reason."""
        kept = tuple(header for header in self.metadata if header not in left_out)
        lone = [h for h in (self.one_probability, *self.further_probabilities) if h in kept]
        return replace(
            self, metadata=kept, unused={**self.unused, **left_out},
            one_probability=next(iter(lone), None), further_probabilities=tuple(lone[1:]),
        )  # fmt: skip


def understand(names: Sequence[str], *, file: str, options: Options) -> Roles:
    """Find which header plays which part; an alias counts only where the standard name is absent.

    Raises
    ------
    InputError
        Where a header appears twice, a column that an option names is missing, several metrics could be
        the value, or no column can be used.
    """
    stripped = by_usual_case(names, as_they_are=(options.outcome, options.value))
    _refuse_no_names(names, file)
    refuse_twice(names, file)
    stripped = _of_platforms(stripped)
    columns, unused, rivals = _standard_columns(stripped, file, options)
    kind = kind_of(stripped, columns, graded=any(map(is_probability, stripped)), file=file, options=options)
    numbers: Mapping[str, str] = {}
    correct = None
    probabilities: dict[str, str] = {}
    if kind is not None:
        columns, numbers = dict(kind.columns), kind.numbers
        rivals = {name: others for name, others in rivals.items() if name in columns}
    else:
        correct = _disputed(stripped, columns, options)
        taken = {*columns.values(), correct, *itertools.chain(*rivals.values())}
        probabilities, doubled = _probability_columns(stripped, taken=taken, unused=unused)
        rivals |= doubled
    taken = {*columns.values(), *numbers.values(), correct, *itertools.chain(*rivals.values())}
    if len(probabilities) > MOST_CLASSES:
        n = len(probabilities)
        raise InputError.of("too_many_probabilities", file=file, line=1, n=n, most_classes=MOST_CLASSES)
    pieces = {int(m[2]): h for name, h in stripped.items() if (m := _OF_AN_ARRAY.fullmatch(name))}
    unlabelled = tuple(header for _, header in sorted(pieces.items()))
    costs = _cost_columns(stripped, {*taken, *probabilities.values(), *unlabelled}, file, options)
    taken |= {*probabilities.values(), *unlabelled, *unused, *costs.values()}
    metadata = tuple(header for name, header in stripped.items() if header not in taken and name)
    requested = frozenset(header for header in metadata if _may_be_requested(header.strip(), options))
    if "outcome" in columns or "attempt" in columns:
        requested |= {stripped[name] for name in QUESTION if stripped.get(name) in metadata}
    lone = [stripped[name] for name in LONE_PROBABILITIES if stripped.get(name) in metadata]
    nameless = None if "id" in columns else next((name for name in names if name.strip() in NAMELESS), None)
    if nameless is not None and "value" in columns and set(stripped) >= _OF_FOLDS and "fold" not in columns:
        columns, nameless = {**columns, "fold": nameless}, None
    roles = Roles(
        columns, probabilities, tuple(header for header in metadata if header != nameless), unused, requested,
        next(iter(lone), None), unlabelled, nameless=nameless, costs=costs, numbers=numbers, rivals=rivals,
        correct=correct, further_probabilities=tuple(lone[1:]),
    )  # fmt: skip
    return roles if kind is not None else _with_metric_as_value(roles, file)


def _of_platforms(stripped: Mapping[str, str]) -> dict[str, str]:
    """Give columns that a platform's other columns explain their standard names.

    ``I_BAD`` of SAS and ``prediction(Survived)`` name what was predicted; beside ``.row`` of tidymodels ``id`` is the
    resample; ``labels`` beside lists of probabilities are the names of the classes.
    """
    of_target = by_target([header.strip() for header in stripped.values()])
    standard = {name: of_target[h.strip()] for name, h in stripped.items() if h.strip() in of_target}
    if ".row" in stripped and "id" in stripped and "fold" not in stripped:
        standard["id"] = "fold"
    if "probabilities" in stripped and "labels" in stripped:
        standard["labels"] = CLASS_NAMES
    free = {name: part for name, part in standard.items() if part not in stripped or part in standard}
    return {free.get(name, name): header for name, header in stripped.items()}


CLASS_NAMES = "class names"
"""What ``labels`` of SageMaker Autopilot is: the names of the classes, in the order of the probabilities."""


def _disputed(stripped: Mapping[str, str], columns: Mapping[str, str], options: Options) -> str | None:
    """Return the header of ``correct`` beside predictions, unless an option or a standard name settles what it is."""
    header = stripped.get("correct")
    settled = {"outcome", "value"} & set(columns) or options.outcome is not None
    if header is None or settled or header in columns.values():
        return None
    probable = any(map(is_probability, stripped))
    return header if "y_pred" in columns or (probable and "y_true" not in columns) else None


_OF_FOLDS = frozenset(("fit_time", "score_time"))
"""Columns of what ``cross_validate`` of scikit-learn returns: a row is a fold."""


_OF_REPORT = frozenset(("precision", "recall", "f1-score", "support"))
"""Columns of ``classification_report``: a row is a class."""


def _refuse_no_names(names: Sequence[str], file: str) -> None:
    """Refuse a first line that holds no names: numbers, or a remark of numpy's ``savetxt``.

    Raises
    ------
    InputError
        With the call that writes names.
    """
    remark = bool(names) and names[0].startswith("#") and usual_case(names[0].lstrip("# ")) in spellings()
    if remark or (len(set(names)) < len(names) and all(map(is_number, names))):
        remedy = say("unusable.no_header")
        shown = ", ".join(map(repr, names[:12]))
        raise InputError.of("unusable", file=file, line=1, names=shown, remedy=remedy)


def about_truth(options: Options) -> Options:
    """Return the options for a table of true values: those that rename columns are about predictions."""
    return replace(options, outcome=None, value=None, attempts_by=None)


def _cost_columns(
    stripped: Mapping[str, str], taken: set[str | None], file: str, options: Options
) -> dict[str, str]:
    """Find the columns of costs: those that ``--cost`` names, and the usual ones that no option uses otherwise."""
    costs: dict[str, str] = {}
    for name in (cost_name(text) for text in options.costs):
        if stripped.get(name) is None:
            raise _lacking(name, "cost", stripped, file)
        if stripped[name] in taken:
            raise InputError.of("cost_is_taken", file=file, line=1, column=name, name=name)
        costs[name] = stripped[name]
    used = {options.cluster, options.weight, options.grade}
    for name in COSTS:
        header = stripped.get(name)
        if header is None or header in taken or header in costs.values() or header.strip() in used:
            continue
        if not may_be_sliced_by(header.strip(), options.slices, ()):
            costs[name] = header
    return costs


def _may_be_requested(name: str, options: Options) -> bool:
    """Say whether an option mentions a column, alone or in an expression."""
    columns = (options.cluster, options.weight, options.grade)
    texts = (*options.slices, *options.gates, *columns)
    return any(text is not None and name in text for text in texts)


_QUERIES = frozenset(("qid", "query", "query_id", "topic", "topic_id"))


_RELEVANCE = frozenset(("rel", "relevance", "relevance_label", "relevance_grade", "qrel"))


def require_usable(roles: Roles, names: Sequence[str], file: str) -> None:
    """Refuse a prediction file in which no column says what a model predicted, and one of rankings.

    Raises
    ------
    InputError
        Where there is neither y_pred, score, p_<label>, outcome nor value; or there are graded documents of queries.
    """
    called = {name.strip().casefold() for name in names}
    probable = roles.probabilities or roles.unlabelled or roles.one_probability is not None
    predicted = {"y_pred", "y_set", "score", "outcome", "value", "gold"} & set(roles.columns)
    usable = probable or roles.numbers or predicted
    graded = (
        called & _QUERIES and called & _RELEVANCE and not {"y_true", "outcome", "value"} & set(roles.columns)
    )
    if graded or ("rank" in called and not usable):
        raise InputError.of("rankings", file=file, line=1)
    if usable:
        return  # gold alone is refused with the task
    command = import_of_columns(called)
    if command is not None:
        raise log_of(command, file)
    refuse_no_quantiles(names, file)
    line, remedy = None if file.startswith("<") else 1, _remedy(roles, names, called, file)
    shown = ", ".join(map(repr, list(names)[:MOST_NAMES])) + (" ..." if len(names) > MOST_NAMES else "")
    raise InputError.of("unusable", file=file, line=line, names=shown, remedy=remedy)


_SEPARATED_AS = {".csv": ("\t", ".tsv"), ".tsv": (",", ".csv")}
"""What separates the cells of a file that is called so by mistake, and what it is called then."""


def _remedy(roles: Roles, names: Sequence[str], called: Set[str], file: str) -> str:
    """Return what to do about a file without predictions, by what its names look like; the later wins."""
    nearest = _nearest(roles)
    graders = [name.strip() for name in roles.metadata if not _names_rows(name)]
    remedy = say("unusable.usual") if nearest is None else say("unusable.nearest", name=nearest)
    if "y_true" in roles.columns and not roles.metadata:
        remedy = say("unusable.truth", file=shlex.quote(file), otherwise=remedy)
    if {*FORECASTS} <= called:
        remedy = say("unusable.forecasts")
    elif len(roles.metadata) > 1 and nearest is None:
        remedy += say("unusable.or_wide")
        called_so = graders or [name.strip() for name in roles.metadata]
        numbered = called_so == [str(place) for place in range(len(called_so))]
        how = PREFIXED if numbered else ", ".join(f"p_{name}" for name in called_so[:3])
        remedy += say("unusable.or_probabilities", how=how)
    if 1 <= len(graders) <= MOST_GRADERS and not {"y_true", "y"} & {*roles.columns, *called}:
        ways = [f"--outcome {shlex.quote(name)}" for name in graders]
        either = " or ".join([", ".join(ways[:-1]), ways[-1]] if len(ways) > 1 else ways)
        remedy += say("unusable.or_grades", either=either)
    if "count" in by_usual_case(names):
        remedy = say("unusable.counts", otherwise=remedy)
    if called >= _OF_FOLDS:
        scores = [name.strip() for name in names if name.strip().startswith("test_")] or ["test_score"]
        remedy = say("unusable.scores_of_folds", score=scores[0])
        if roles.nameless is None and not {"fold", "repeat", "dataset"} & set(roles.columns):
            remedy += say("unusable.and_number")
    if "mean_test_score" in called or any(name.startswith("split0_test_") for name in called):
        remedy = say("unusable.search")
    if called >= _OF_REPORT:
        remedy = say("unusable.summary")
    if any(map(is_number, names)) and not any(map(_is_known, names)):
        remedy = say("unusable.a_row", otherwise=remedy)
    if all(map(is_number, names)):
        remedy = say("unusable.no_names", probabilities=", ".join(f"p_{name}" for name in names[:3]))
    if file.lower().endswith(".npz"):
        remedy = say("unusable.arrays")
    if "".join(names[:1]).startswith("#") or sum(map(bool, names)) == 1 < len(names):
        remedy = say("unusable.above")
    elif len(names) == 1 and any(mark in names[0] for mark in ";\t|, "):
        remedy = say("unusable.separators")
        mark, other = _SEPARATED_AS.get(PurePath(file).suffix.lower(), ("", ""))
        if mark and mark in names[0]:
            remedy = say(
                "unusable.other_suffix", name=PurePath(file).with_suffix(other).name, otherwise=remedy
            )
    return remedy


def _nearest(roles: Roles) -> str | None:
    """Return the column that is spelled nearly like one of predictions, else the only one that has no other part."""
    columns = [name.strip() for name in roles.metadata if not _names_rows(name)]
    read = {name.casefold() for name in (*spellings("y_pred", "score"), *LONE_PROBABILITIES)}
    for name in columns:
        if get_close_matches(name.casefold(), read, n=1, cutoff=0.8):
            return name
    return columns[0] if len(columns) == 1 and "y_true" in roles.columns else None


PREFIXED = "DataFrame(model.predict_proba(X), columns=model.classes_).add_prefix('p_')"
"""How the classes of numbered columns of probabilities are named in pandas."""

MOST_NAMES = 8
"""Columns of a refused file that its message names."""

MOST_GRADERS = 5
"""Of more further columns none is suggested as the outcome."""


def _names_rows(name: str) -> bool:
    """Say whether a column is called like one of ids, groups or texts, and not like numbers of a model."""
    small = name.strip().lower()
    return small.endswith(("_id", "_name", "_at", "time", "date")) or small in (*_OF_ROWS, *QUESTION)


_OF_ROWS = ("id", "region", "topic")


def _is_known(name: str) -> bool:
    """Say whether a column is called like one that is read: in no case is the header then a row."""
    return usual_case(name) in spellings() or is_probability(name.strip())


def refuse_twice(names: Sequence[str], file: str) -> None:
    """Refuse headers of which one appears twice."""
    seen: set[str] = set()
    for name in (name.strip() for name in names):
        if name and name in seen:
            or_row = "" if any(map(_is_known, names)) else say("unusable.or_row")
            raise InputError.of("header_twice", file=file, line=1, column=name, or_row=or_row)
        seen.add(name)


def _standard_columns(
    stripped: Mapping[str, str], file: str, options: Options
) -> tuple[dict[str, str], dict[str, Message], dict[str, tuple[str, ...]]]:
    """Return the header of each standard column, those that play no part, and the rivals of a header."""
    named = {"outcome": options.outcome, "value": options.value}
    columns: dict[str, str] = {}
    unused: dict[str, Message] = {}
    rivals: dict[str, tuple[str, ...]] = {}
    for standard in ALIASES:
        requested = named.get(standard)
        if requested is not None:
            if requested not in stripped:
                raise _lacking(requested, standard, stripped, file)
            if requested in ALIASES and requested not in _JUDGED:
                value = "judgements" if standard == "outcome" else "scores"
                said = {"standard": standard, "name": repr(requested), "value": value}
                raise InputError.of("named_column_taken", file=file, line=1, column=requested, **said)
            columns[standard] = stripped[requested]
            continue
        if standard == "id" and options.attempts_by is not None:
            if options.attempts_by not in headers_named(stripped):
                raise _lacking(options.attempts_by, "attempts-by", stripped, file)
            columns["id"] = headers_named(stripped)[options.attempts_by]
            continue
        accepted = _accepted(standard, stripped, columns)
        present = [n for n in (standard, *accepted) if n in stripped and n not in named.values()]
        if not present:
            continue
        columns[standard] = stripped[present[0]]
        others = tuple(stripped[name] for name in present[1:])
        if present[0] != standard and standard in _NEVER_TWO:
            rivals |= {standard: others} if others else {}
        else:
            for other in others:
                unused[other] = Message("unused.same_meaning", meaning=standard, other=present[0])
    if options.task == "regression" and "y_pred" not in columns and "score" in columns:
        columns["y_pred"] = columns.pop("score")
    return columns, unused, rivals


def _lacking(name: str, standard: str, columns: Mapping[str, str], file: str) -> InputError:
    return InputError.of(
        "named_column_lacking", file=file, line=1, name=repr(name), standard=standard, columns=columns
    )


def headers_named(stripped: Mapping[str, str]) -> dict[str, str]:
    """Return each header by its name as the file spells it, and as it is usually spelled."""
    return {**{header.strip(): header for header in stripped.values()}, **stripped}


_NEVER_TWO = ("id", "model", "y_true", "y_pred", "score", "outcome")
"""Columns of which a file has one: two that may be it, and differ, are a question."""


def _accepted(standard: str, stripped: Mapping[str, str], columns: Mapping[str, str]) -> tuple[str, ...]:
    """Return the other names under which a standard column is read in a file with these headers."""
    accepted = aliases_of(standard)
    if standard == "outcome":
        # `correct` beside predictions is a note about them, their truth, or a judgement: its values say.
        judged = "y_pred" in stripped or "score" in stripped or any(map(is_probability, stripped))
        predicted = judged or "y_pred" in columns
        return () if judged else tuple(name for name in accepted if name != "correct" or not predicted)
    if standard == "gold" and "outcome" not in columns:
        return ()  # a person's outcome accompanies a judge's, or is metadata
    if standard == "y_pred" and _JUDGED_TEXTS & set(stripped):
        return tuple(name for name in accepted if name != "response")  # it is a text that was judged
    return accepted


_OF_TEXTS = ("user_input", "reference", "contexts", "retrieved_contexts", "messages")
_JUDGED_TEXTS = frozenset(("outcome", *ALIASES["outcome"], *QUESTION, *_OF_TEXTS))
"""Names beside which ``response`` is what a language model wrote, and no label of mlr3."""


def _probability_columns(
    stripped: Mapping[str, str], *, taken: set[str | None], unused: dict[str, Message]
) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the columns of probabilities by their classes, ours first, and by p_<label> others that could be the same.

    A column ``p_<label>`` of ours has no rivals.
    """
    columns: dict[str, str] = {}
    rivals: dict[str, tuple[str, ...]] = {}

    def take(label: str, header: str) -> None:
        if label not in columns:
            columns[label] = header
        elif columns[label].strip().lower().startswith("p_"):
            unused[header] = Message("unused.same_label", other=columns[label], label=label)
        else:
            rivals[f"p_{label}"] = (*rivals.get(f"p_{label}", ()), header)

    for prefix in PROBABILITY_PREFIXES:
        for name, header in stripped.items():
            label = name.removeprefix(prefix)
            if name.startswith(prefix) and label and header not in taken:
                take(label, header)
    of_h2o = re.compile(r"p(\d+|True|False)") if "predict" in stripped else None
    of_target = classes_by_target(stripped.values())
    for name, header in stripped.items():
        by_position = None if of_h2o is None else of_h2o.fullmatch(name)
        of_class = by_position[1] if by_position else class_of(name) or of_target.get(header.strip())
        if of_class is not None and header not in taken and header not in columns.values():
            take(of_class, header)
    return columns, rivals


def _with_metric_as_value(roles: Roles, file: str) -> Roles:
    """Take a metric's name for ``value`` where the file holds no examples at all."""
    if roles.probabilities or {"y_true", "y_pred", "score", "outcome", "value", "id"} & set(roles.columns):
        return roles
    metrics = [header for header in roles.metadata if header.strip().lower() in METRIC_COLUMNS]
    if not metrics or {header.strip().lower() for header in roles.metadata} >= _OF_REPORT:
        return roles
    if len(metrics) > 1:
        raise InputError.of("several_metrics", file=file, line=1, metrics=metrics, metric=metrics[0].strip())
    rest = tuple(header for header in roles.metadata if header != metrics[0])
    return replace(roles, columns={**roles.columns, "value": metrics[0]}, metadata=rest)


def roles_of_wide(names: Sequence[str], *, file: str) -> Roles:
    """Find which header plays which part where every further column is a model.

    The id is a column of that name or the first one; without true values it is the data set.

    Raises
    ------
    InputError
        Where a header appears twice, no column is left for a model, or ``label`` may be the truth or a model.
    """
    refuse_twice(names, file)
    refuse_wide(names, file)
    known = by_usual_case(names)
    if set(known) >= FORECASTS:
        return _roles_of_forecasts(names, known, file)
    truth = next((known[name] for name in spellings("y_true") if name != "label" and name in known), None)
    if truth is None and "label" in known:
        raise InputError.of("wide_label", file=file, line=1, column=known["label"])
    named = (known[name] for name in (*spellings("id"), "dataset") if name in known)
    first = next(named, next((name for name in names if name != truth), None))
    models = {name.strip(): name for name in names if name not in (first, truth) and name.strip()}
    if first is None or not models:
        raise InputError.of("no_wide_model", file=file, line=1, names=list(names)[:8])
    columns = {"dataset": first} if truth is None else {"id": first, "y_true": truth}
    return Roles(columns, {}, (), {}, answers=models)


FORECASTS = frozenset(("unique_id", "ds", "y"))
"""Columns of forecasts of Nixtla's libraries: series, time and true value; each further column is a model."""


IDS_OF_FORECASTS = "series, time and cutoff"
"""The header of ids that are joined from those columns: no file has it."""


def _roles_of_forecasts(names: Sequence[str], known: Mapping[str, str], file: str) -> Roles:
    """Find the models among forecasts: all columns but series, times, true values and the limits of intervals."""
    parts = {known[name] for name in (*FORECASTS, "cutoff") if name in known}
    limits = re.compile(r".*-(lo|hi)-[\d.]+")
    further = (name for name in names if name not in parts and name.strip())
    models = {name.strip(): name for name in further if not limits.fullmatch(name.strip())}
    if not models:
        raise InputError.of("no_wide_model", file=file, line=1, names=list(names)[:8])
    columns = {"id": IDS_OF_FORECASTS, "y_true": known["y"], "time": known["ds"]}
    of_id = tuple(known[name] for name in ("unique_id", "ds", "cutoff") if name in known)
    return Roles(columns, {}, (known["unique_id"],), {}, answers=models, joined=of_id)


_NOT_OF_COUNTS = OF_EXAMPLES | set(spellings("id", "model"))


def roles_of_counts(names: Sequence[str], *, file: str, options: Options) -> Roles:
    """Find which header plays which part in a table of counts.

    Raises
    ------
    InputError
        Where a header appears twice, there is not a count or no truth, or a column of answers names no model.
    """
    refuse_twice(names, file)
    stripped = by_usual_case(name for name in names if name.strip())
    answers = {name.removeprefix(ANSWERS): h for name, h in stripped.items() if name.startswith(ANSWERS)}
    truth = next((name for name in spellings("y_true") if name in stripped), None)
    if "count" not in stripped:
        raise InputError.of(
            "no_column_of_counts", file=file, line=1, column="count", name=repr(next(iter(answers.values())))
        )
    if truth is None:
        raise InputError.of("counts_without_truth", file=file, line=1, column="y_true")
    if not all(name.strip() for name in answers):
        raise InputError.of("answers_of_no_model", file=file, line=1, column="y_pred.")
    used = {stripped["count"], stripped[truth], *answers.values()}
    unused = {h: Message("unused.of_counts") for name, h in stripped.items() if name in _NOT_OF_COUNTS}
    metadata = tuple(h for h in stripped.values() if h not in used and h not in unused)
    named = (name for name in (options.cluster, options.weight) if name is not None)
    texts = (*options.slices, *options.gates, *named)
    requested = frozenset(h for h in metadata if any(h.strip() in text for text in texts))
    columns = {"y_true": stripped[truth], "count": stripped["count"]}
    return Roles(columns, {}, metadata, unused, requested, answers=answers)
