"""The names of columns that mean something, and the other names under which each is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

from evalreport.predictions.platforms import class_of, names_of

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
    "test_size": (),
    "complexity": (),
    "n_parameters": (),
    "log_likelihood": (),
    "vc_dimension": (),
    "time": (),
    "outcome": ("correct", "passed"),
    "attempt": ("epoch",),
    "gold": ("human",),
    "value": (),
    "task": ("benchmark",),
}
"""Standard column -> names that are accepted where it is absent."""


@cache
def aliases_of(standard: str) -> tuple[str, ...]:
    """Return the other names of a standard column: those of ``ALIASES``, then those of platforms."""
    return tuple(dict.fromkeys((*ALIASES[standard], *names_of(standard))))


def spellings(*standards: str) -> tuple[str, ...]:
    """Return the names that columns may have, the standard one first; those of every column where none is named."""
    return tuple(name for standard in standards or ALIASES for name in (standard, *aliases_of(standard)))


COSTS = ("cost", "latency", "tokens")
"""Columns of numbers that are weighed against quality by their names."""


QUESTION = ("question", "prompt", "input")
"""Names of the column that holds the text of a question."""


PROBABILITY_PREFIXES = ("p_", "proba_", "prob_")


LONE_PROBABILITIES = (
    *("y_prob", "p", "proba", "prob", "probability"),
    *(name for name in names_of("p") if name != "probability"),
)
"""Names of the one probability of a binary task, and of an array with a column for each class."""


NUMBERS_OF_A_FIT = (
    *("inbag", "train_size", "test_size", "complexity", "n_parameters"),
    *("log_likelihood", "vc_dimension"),
)


NUMBER_COLUMNS = frozenset(("score", "value", "count", *NUMBERS_OF_A_FIT))


IDENTITY_COLUMNS = ("task", "dataset", "repeat", "fold", "replicate", "seed", "part", "inner_fold", "attempt")


KEY_COLUMNS = (*IDENTITY_COLUMNS, "params", "time", *NUMBERS_OF_A_FIT)


METRIC_COLUMNS = frozenset(
    (
        *("auc", "accuracy", "error_rate", "balanced_accuracy", "precision", "recall", "specificity", "f1"),
        *("f1_macro", "f1_micro", "f1_weighted", "f0_5", "f2", "jaccard", "mcc", "cohen_kappa", "kappa"),
        *("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "average_precision", "pr_auc", "log_loss", "brier"),
        *("ece", "r2", "mse", "rmse", "mae", "medae", "mape", "rae", "rrse", "error", "loss"),
    )
)
"""Names of metrics that are accepted for ``value`` where a file holds scores instead of examples."""


TIME = "time"
"""The column that says when an example was."""


TASK = "task"
"""The column that names the benchmark of a suite which an example belongs to."""


ANSWERS = "y_pred."
"""A column that begins so holds the answers of the model that the rest of its name says."""


OF_EXAMPLES = frozenset(spellings("y_pred", "score", "outcome", "value"))


NAMELESS = frozenset(("", "Unnamed: 0", "__index_level_0__"))
"""What R and pandas call the names of rows when they write or read them without a name."""


_KNOWN = frozenset((*spellings(), *LONE_PROBABILITIES, *COSTS, *QUESTION, "count"))


def usual_case(name: str) -> str:
    """Return the name of a column without blanks around it, in small letters where that is one which means something.

    Examples
    --------
    >>> [usual_case(name) for name in ("ID", "Y_True ", "P_Cat", "Region")]
    ['id', 'y_true', 'p_Cat', 'Region']
    """
    plain = name.strip()
    small = plain.lower()
    if small in _KNOWN:
        return small
    for prefix in (*PROBABILITY_PREFIXES, ANSWERS):
        if small.startswith(prefix):
            return prefix + plain[len(prefix) :]
    return plain


def by_usual_case(names: Iterable[str], as_they_are: Collection[str | None] = ()) -> dict[str, str]:
    """Map the name of each header in its usual case to the header; where two have one, the exact one keeps it.

    Parameters
    ----------
    as_they_are
        Names whose case counts.
    """
    headers = {name.strip(): name for name in names}
    columns: dict[str, str] = {}
    for name, header in headers.items():
        usual = usual_case(name)
        taken = usual != name and (usual in headers or usual in columns)
        columns[name if taken or name in as_they_are else usual] = header
    return columns


def is_probability(name: str) -> bool:
    """Say whether the name of a column says that it holds the probability of a class."""
    return usual_case(name).startswith(PROBABILITY_PREFIXES) or class_of(name) is not None


def are_counts(names: Collection[str]) -> bool:
    """Say whether headers are those of a table of counts: answers of models by name, and no other predictions."""
    stripped = {usual_case(str(name)) for name in names}
    predicted = OF_EXAMPLES & stripped or any(name.startswith(PROBABILITY_PREFIXES) for name in stripped)
    return not predicted and any(name.startswith(ANSWERS) for name in stripped)
