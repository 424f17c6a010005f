"""What a shell completes the names after an option to; each function imports what knows the names when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evalreport.sources import is_address

if TYPE_CHECKING:
    import click

Complete = Callable[["click.Context", "click.Parameter", str], list[str]]
ALL = "all"


def metrics(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete the name of a metric, also with an average."""
    return _beginning(begun, _metric_names())


def intervals(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete the name of an interval."""
    from evalreport.intervals import INTERVALS

    return _beginning(begun, [*INTERVALS, ALL])


def tests(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete the name of a test."""
    from evalreport.comparisons import TESTS

    return _beginning(begun, [*TESTS, ALL])


def models(context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete the name of a model, as the files among MODELS have it."""
    return _beginning(begun, _model_names(context))


def gates(context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    """Complete ``MODEL.METRIC`` at the beginning of a gate."""
    names = sorted(_model_names(context), key=len, reverse=True)
    model = next((name for name in names if begun.startswith(f"{name}.")), None)
    if model is None:
        return _beginning(begun, [*(f"{name}." for name in sorted(names)), "n"])
    return _beginning(begun, [f"{model}.{metric}" for metric in _metric_names()])


COMPLETIONS: Mapping[str, Complete] = {
    "metric": metrics,
    "interval": intervals,
    "test": tests,
    "baseline": models,
    "gate": gates,
}
"""By the name of an option."""


def _beginning(begun: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin so, in any case of letters."""
    return [name for name in names if name.lower().startswith(begun.lower())]


def _metric_names() -> list[str]:
    from evalreport.metrics.quantities import spelled_metrics

    return spelled_metrics()


def _model_names(context: click.Context) -> list[str]:
    """Name models after their files, whose contents are not read: a column ``model`` is not seen."""
    from evalreport.data.reading import file_format, model_name

    found: list[str] = []
    try:
        # Click leaves MODELS among the words that it has not parsed where an option still waits for its value.
        given = [*(context.params.get("models") or ()), *context.args]
        for path in (Path(path) for path in given if not is_address(path)):
            entries = sorted(path.iterdir()) if path.is_dir() else [path]
            found += [model_name(entry) for entry in entries if entry.is_dir() or file_format(entry)]
    except OSError:
        pass  # a completion says nothing about what is wrong
    return [name for name in found if name != "truth"]
