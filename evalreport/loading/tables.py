"""One source that has been read, with the part that each of its columns plays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from evalreport.errors import InputError
from evalreport.loading.roles import Roles, about_truth, require_usable, roles_of_counts, understand
from evalreport.options import Options
from evalreport.predictions.cells import Kind
from evalreport.predictions.column_names import are_counts
from evalreport.sources.reading import Columns, Source
from evalreport.texts import Value


@dataclass(frozen=True, slots=True)
class Table:
    """One source, read: ``model`` is the name that its file gives, used where it has no column ``model``."""

    name: str
    model: str
    roles: Roles
    read: Columns
    positional: bool = False
    """Arrays of the API without ids: rows are known by their position."""
    part: bool = False
    """Other tables may hold more rows of the same model: parts in one folder."""

    @property
    def shown_name(self) -> str:
        """What results call it: the same wherever the folder lies and however it was named."""
        return self.name if self.name.startswith("<") else PurePath(self.name).name

    def fault(self, row: int, column: str | None, code: str, /, **values: Value) -> InputError:
        """Return the error about one row, with the line on which it stands."""
        line, _ = self.read.locate(row, None)
        return InputError.of(code, file=self.name, line=line, column=column, **values)


def table_of(source: Source, options: Options, *, predictions: bool) -> Table:
    """Read the columns of a source that the options have a use for; without ``predictions`` those of true values.

    Raises
    ------
    InputError
        A file that cannot be read, or headers that cannot be used.
    """
    roles: list[Roles] = []

    def choose(names: tuple[str, ...]) -> Mapping[str, Kind]:
        if predictions and are_counts(names):
            role = roles_of_counts(names, file=source.name, options=options)
        else:
            role = understand(
                names, file=source.name, options=options if predictions else about_truth(options)
            )
            if predictions:
                require_usable(role, names, source.name)
        roles.append(role)
        return role.kinds()

    columns = source.read(choose)
    role = roles[-1].without(columns.left_out)
    positional = source.in_memory and "id" not in role.columns
    return Table(source.name, source.model, role, columns, positional=positional, part=source.part)
