"""What a template may do: read records, call what it is given, change nothing, include files of its own folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jinja2
from jinja2.loaders import split_template_path
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalreport.report.brand import file_of


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment in which no list or mapping can be changed, and records are data: none of their methods is there.

    What a record can do besides (draw itself, turn into a data frame that writes files) is for Python.
    """

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may read an attribute."""
        if dataclasses.is_dataclass(obj):
            first = value[0] if isinstance(value, tuple) and value else value
            if callable(first):
                return False
        return super().is_safe_attribute(obj, attr, value)


class OwnFolder(jinja2.FileSystemLoader):
    """The user's folder of templates; a link that leads out of it is refused."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        """Give a template's text, its path, and how to see that it changed.

        Raises
        ------
        TemplateError
            It lies outside of the folder.
        """
        file_of(self.folder, "/".join(split_template_path(template)))
        return super().get_source(environment, template)
