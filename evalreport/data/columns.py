"""What each column of a prediction file means, from its header alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evalreport.config import Options
from evalreport.errors import InputError
from evalreport.texts import Message

Kind = Literal["text", "codes", "number", "metadata", "aside"]
"""How a column is kept: plain text (ids), dictionary codes (labels, keys; metadata, where it can be) or float64.

Metadata that no option names is ``aside``: kept as metadata is, unless it holds very many different texts.
"""

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("sample_id", "example_id", "doc_id", "index"),
    "model": ("algorithm", "system"),
    "y_true": ("target", "label", "actual", "truth"),
    "y_pred": ("prediction", "pred", "predicted"),
    "score": ("y_score", "decision"),
    "repeat": (),
    "fold": (),
    "replicate": ("replica",),
    "inbag": ("in_bag",),
    "part": ("split",),
    "inner_fold": (),
    "params": (),
    "dataset": (),
    "seed": ("run",),
    "train_size": (),
    "complexity": (),
    "n_parameters": (),
    "log_likelihood": (),
    "vc_dimension": (),
    "time": (),
    "outcome": ("correct", "passed"),
    "value": (),
}
"""Standard column -> names that are accepted where it is absent."""

MOST_CLASSES = 1000
PROBABILITY_PREFIXES = ("p_", "proba_", "prob_")
NUMBER_COLUMNS = frozenset(
    ("score", "inbag", "train_size", "complexity", "n_parameters", "log_likelihood", "vc_dimension", "value")
)
IDENTITY_COLUMNS = ("dataset", "repeat", "fold", "replicate", "seed", "part", "inner_fold")
KEY_COLUMNS = (
    *IDENTITY_COLUMNS,
    *(
        "params",
        "time",
        "inbag",
        "train_size",
        "complexity",
        "n_parameters",
        "log_likelihood",
        "vc_dimension",
    ),
)
_JUDGED = frozenset(("score", "outcome", "value"))
"""Standard columns that --outcome or --value may take for its own."""
METRIC_COLUMNS = frozenset(
    (
        *("auc", "accuracy", "error_rate", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
        *("f1_macro", "f1_micro", "f1_weighted", "f0_5", "f2", "jaccard", "mcc", "cohen_kappa", "kappa"),
        *("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "average_precision", "pr_auc", "log_loss", "brier"),
        *("ece", "r2", "mse", "rmse", "mae", "medae", "mape", "rae", "rrse", "error", "loss"),
    )
)
"""Names of metrics that may stand for ``value`` where a file holds scores instead of examples."""


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
    asked
        The metadata that an option may name.
    """

    columns: Mapping[str, str]
    probabilities: Mapping[str, str]
    metadata: tuple[str, ...]
    unused: Mapping[str, Message]
    asked: frozenset[str] = frozenset()

    def kinds(self) -> dict[str, Kind]:
        """Say for every header in use how it is to be kept."""
        kinds: dict[str, Kind] = {h: "metadata" if h in self.asked else "aside" for h in self.metadata}
        kinds |= dict.fromkeys(self.probabilities.values(), "number")
        for name, header in self.columns.items():
            kinds[header] = "text" if name == "id" else "number" if name in NUMBER_COLUMNS else "codes"
        return kinds

    def without(self, left_out: Mapping[str, Message]) -> Roles:
        """Leave out the metadata that was not kept, with the reason."""
        kept = tuple(header for header in self.metadata if header not in left_out)
        return replace(self, metadata=kept, unused={**self.unused, **left_out})


def understand(names: Sequence[str], *, file: str, options: Options) -> Roles:
    """Find which header plays which part; an alias counts only where the standard name is absent.

    Raises
    ------
    InputError
        Where a header stands twice, a column that an option names is missing, several metrics could be
        the value, or no column can be used.
    """
    stripped = {name.strip(): name for name in names}
    _refuse_twice(names, file)
    columns, unused = _standard_columns(stripped, file, options)
    probabilities = _probability_columns(stripped, taken=set(columns.values()), unused=unused)
    if len(probabilities) > MOST_CLASSES:
        raise InputError(
            f"there are columns of {len(probabilities):,} probabilities",
            file=file,
            line=1,
            expected=f"at most {MOST_CLASSES:,} classes",
            remedy="name the columns otherwise if they are no probabilities of classes",
        )
    taken = {*columns.values(), *probabilities.values(), *unused}
    metadata = tuple(header for name, header in stripped.items() if header not in taken and name)
    asked = frozenset(header for header in metadata if _may_be_asked_for(header.strip(), options))
    roles = Roles(columns, probabilities, metadata, unused, asked)
    return _with_metric_as_value(roles, file)


def about_truth(options: Options) -> Options:
    """Return the options for a table of true values: those that rename columns are about predictions."""
    return replace(options, outcome=None, value=None)


def _may_be_asked_for(name: str, options: Options) -> bool:
    """Say whether an option mentions a column, alone or in an expression."""
    said = (*options.slices, *options.gates, options.cluster, options.weight, options.same_input)
    return any(text is not None and name in text for text in said)


def require_usable(roles: Roles, names: Sequence[str], file: str) -> None:
    """Refuse a prediction file in which no column says what a model predicted.

    Raises
    ------
    InputError
        Where there is neither y_pred, score, p_<label>, outcome nor value.
    """
    if roles.probabilities or {"y_pred", "score", "outcome", "value"} & set(roles.columns):
        return
    remedy = "name the column that holds the predictions y_pred (or score, p_<label>, outcome, value)"
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        remedy = "separate the columns with commas (.csv) or tabs (.tsv)"
    raise InputError(
        f"no usable column among {', '.join(map(repr, list(names)[:12]))}",
        file=file,
        line=1,
        expected="y_pred, score, p_<label>, outcome or value",
        remedy=remedy,
    )


def _refuse_twice(names: Sequence[str], file: str) -> None:
    seen: set[str] = set()
    for name in (name.strip() for name in names):
        if name and name in seen:
            raise InputError(
                "the header names this column twice",
                file=file,
                line=1,
                column=name,
                expected="every column once",
                remedy="rename or remove one of the two",
            )
        seen.add(name)


def _standard_columns(
    stripped: Mapping[str, str], file: str, options: Options
) -> tuple[dict[str, str], dict[str, Message]]:
    named = {"outcome": options.outcome, "value": options.value}
    columns: dict[str, str] = {}
    unused: dict[str, Message] = {}
    judged = "y_pred" in stripped or "score" in stripped or _has_probabilities(stripped)
    for standard, aliases in ALIASES.items():
        asked = named.get(standard)
        if asked is not None:
            if asked not in stripped:
                raise InputError(
                    f"no column {asked!r}, which --{standard} names",
                    file=file,
                    line=1,
                    expected=f"one of {', '.join(stripped)}",
                    remedy=f"name one of these with --{standard}",
                )
            if asked in ALIASES and asked not in _JUDGED:
                raise InputError(
                    f"--{standard} names the column {asked!r}, which has a meaning of its own",
                    file=file,
                    line=1,
                    column=asked,
                    expected=f"a column of {'judgements' if standard == 'outcome' else 'scores'}",
                    remedy=f"name another column with --{standard}, or rename this one",
                )
            columns[standard] = stripped[asked]
            continue
        # `correct` beside predictions is a note about them, not a judgement that replaces them.
        accepted = () if standard == "outcome" and judged else aliases
        present = [n for n in (standard, *accepted) if n in stripped and n not in named.values()]
        if present:
            columns[standard] = stripped[present[0]]
            for other in present[1:]:
                unused[stripped[other]] = Message("unused.same_meaning", meaning=standard, other=present[0])
    return columns, unused


def _has_probabilities(stripped: Mapping[str, str]) -> bool:
    return any(name.startswith(PROBABILITY_PREFIXES) for name in stripped)


def _probability_columns(
    stripped: Mapping[str, str], *, taken: set[str], unused: dict[str, Message]
) -> dict[str, str]:
    found: dict[str, str] = {}
    for prefix in PROBABILITY_PREFIXES:
        for name, header in stripped.items():
            label = name.removeprefix(prefix)
            if not name.startswith(prefix) or not label or header in taken:
                continue
            if label in found:
                unused[header] = Message("unused.same_label", other=found[label], label=label)
            else:
                found[label] = header
    return found


def _with_metric_as_value(roles: Roles, file: str) -> Roles:
    """Take a metric's name for ``value`` where the file holds no examples at all."""
    if roles.probabilities or {"y_true", "y_pred", "score", "outcome", "value", "id"} & set(roles.columns):
        return roles
    metrics = [header for header in roles.metadata if header.strip() in METRIC_COLUMNS]
    if not metrics:
        return roles
    if len(metrics) > 1:
        raise InputError(
            f"several columns could be the value: {', '.join(metrics)}",
            file=file,
            line=1,
            expected="one column of values",
            remedy=f"say which, e.g. --value {metrics[0].strip()}",
        )
    rest = tuple(header for header in roles.metadata if header != metrics[0])
    return replace(roles, columns={**roles.columns, "value": metrics[0]}, metadata=rest)
