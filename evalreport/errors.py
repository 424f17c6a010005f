"""Errors that a person can act on; only the command line catches them, prints them and exits."""

from __future__ import annotations

from evalreport.redaction import redacted


class EvalreportError(Exception):
    """Base of every error that evalreport raises on purpose; carries the exit code of the contract."""

    exit_code = 2

    def __str__(self) -> str:
        """Say what is wrong, without any password or token."""
        return redacted(super().__str__())


class UsageError(EvalreportError):
    """An option, a configuration key or a name that evalreport does not know or cannot combine."""


class InputError(EvalreportError):
    """Bad input: one message with where, what came, what was expected and what to do.

    Parameters
    ----------
    problem
        What came, in one clause ("probability 1.2 is outside [0, 1]").
    file, line, column
        Where: the path as the user gave it, the line counted from 1 (a header is line 1), the column's name.
    expected
        What was expected instead.
    remedy
        What to do about it.

    Examples
    --------
    >>> print(InputError("probability 1.2", file="a.csv", line=3, column="p_1",
    ...                  expected="a number in [0, 1]", remedy="check the file"))
    a.csv, line 3, column 'p_1': probability 1.2; expected a number in [0, 1]. To mend it: check the file.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: str | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem, self.file, self.line, self.column = problem, file, line, column
        self.expected, self.remedy = expected, remedy
        super().__init__(self._message())

    def _message(self) -> str:
        place = [self.file] if self.file is not None else []
        if self.line is not None:
            place.append(f"line {self.line}")
        if self.column is not None:
            place.append(f"column {self.column!r}")
        text = f"{', '.join(place)}: {self.problem}" if place else self.problem
        if self.expected:
            text += f"; expected {self.expected}"
        text = text.rstrip(".") + "."
        if self.remedy:
            text += f" To mend it: {self.remedy.rstrip('.')}."
        return text


class OutputError(EvalreportError):
    """An output that was asked for could not be made; the others were."""

    exit_code = 4


class HistoryError(EvalreportError):
    """The history of audits cannot be reached, read or written; it is as it was."""
