"""What mypy says of the public functions; `make static` reads this file, nothing runs it.

A comment that ignores an error which is not there is an error itself: so each of them is found, and no other.
"""

from __future__ import annotations

from typing import NoReturn

import evalreport as er


def right() -> NoReturn:
    """Keywords, choices and what comes back are known."""
    results = er.evaluate({"a": {"y_pred": [1, 0]}}, truth=[1, 0], metrics=["f1"], task="binary", margin=0.1)
    er.render(results, "out", formats="html", title="x")
    er.plots.roc(results).set_title("ROC")
    raise er.errors.InputError("x")


def wrong() -> None:
    """A misspelt keyword, a wrong value, a wrong choice, and a chart that is no text."""
    er.evaluate("models", confidnce=0.9)  # type: ignore[call-arg]
    er.evaluate("models", confidence="high")  # type: ignore[arg-type]
    er.evaluate("models", task="binray")  # type: ignore[arg-type]
    results = er.evaluate("models")
    er.render(results, "out", formats="html", titel="x")  # type: ignore[call-arg]
    text: str = er.plots.roc(results)  # type: ignore[assignment]
    assert text
