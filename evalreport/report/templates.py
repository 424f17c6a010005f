"""The environment in which templates are rendered: a sandbox, the built-in templates and a user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.loaders import split_template_path
from jinja2.sandbox import ImmutableSandboxedEnvironment

from evalreport.report.brand import TemplateError, check_templates, file_of
from evalreport.report.typography import held, signed, unbroken
from evalreport.texts import Message, say
from evalreport.texts.visible import visible

SECTION_BLOCKS = "{# section_blocks #}"
"""The mark in ``base.html.j2`` at which every section of the report has its block."""


class Sandbox(ImmutableSandboxedEnvironment):
    """An environment in which templates can change no list or mapping and call no method of a record."""

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        """Whether a template may read an attribute."""
        if dataclasses.is_dataclass(obj):
            first = value[0] if isinstance(value, tuple) and value else value
            if callable(first):
                return False
            if not isinstance(obj, type):
                # Some thousand calls a page: the inherited check goes through every kind of function and collection.
                return not attr.startswith("_")
        return super().is_safe_attribute(obj, attr, value)

    def preprocess(self, source: str, name: str | None = None, filename: str | None = None) -> str:
        """Put the blocks of all sections at their mark, on one line: each has one without a line in the template."""
        if SECTION_BLOCKS in source:
            from evalreport.report.sections import (
                SECTIONS,
            )  # they import the charts, which copying templates does not need

            block = '{%% block section_%s %%}{{ part("%s") }}{%% endblock %%}'
            blocks = "".join(block % (section.name, section.name) for section in SECTIONS)
            # Here they are only defined; the page calls them by name.
            source = source.replace(SECTION_BLOCKS, f"{{% if false %}}{blocks}{{% endif %}}")
        return super().preprocess(source, name, filename)


class OwnFolder(jinja2.FileSystemLoader):
    """The user's folder of templates; a link that leads out of it is refused."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        """Return a template's text, its path, and how to see that it changed.

        Raises
        ------
        TemplateError
            It is outside the folder.
        """
        file_of(self.folder, "/".join(split_template_path(template)))
        return super().get_source(environment, template)


@lru_cache(maxsize=1)
def template_folder() -> Path:
    """Find the built-in templates: inside the installed package, or at the top of the checkout.

    Raises
    ------
    FileNotFoundError
        When they are in neither place: the installation is broken.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / "base.html.j2").is_file():
            return folder
    raise FileNotFoundError(f"the built-in templates are missing beside {package}: install evalreport again")


def environment(user_folder: Path | None, finalize: Callable[[object], object] | None = None) -> Sandbox:
    """Make the environment that every template is rendered in.

    Parameters
    ----------
    user_folder
        Its templates take precedence over the built-in ones, which can still be named as ``evalreport/...``.
    finalize
        A function of every printed expression; without it, text is made visible and HTML is escaped.

    Raises
    ------
    UsageError
        When the user's folder does not exist.
    """
    if user_folder is None:
        return _of_built_in(finalize)
    check_templates(user_folder)
    return _sandbox((OwnFolder(user_folder),), finalize)


@lru_cache
def _of_built_in(finalize: Callable[[Any], Any] | None) -> Sandbox:
    """Make the environment of the built-in templates alone; it keeps them compiled for the next document."""
    return _sandbox((), finalize)


def _sandbox(first: Sequence[jinja2.BaseLoader], finalize: Callable[[Any], Any] | None) -> Sandbox:
    built_in = jinja2.FileSystemLoader(template_folder())
    made = Sandbox(
        loader=jinja2.ChoiceLoader([*first, built_in, jinja2.PrefixLoader({"evalreport": built_in})]),
        autoescape=finalize is None,
        finalize=finalize or _visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["say"] = say
    made.filters |= {"held": held, "signed": signed, "unbroken": unbroken}
    return made


def _visible(value: object) -> object:
    """Make plain text visible; mark-up of our own (it has ``__html__``) is left as it is."""
    return visible(value) if isinstance(value, (str, Message)) and not hasattr(value, "__html__") else value


def rendered(env: Sandbox, template: str, context: Mapping[str, object]) -> str:
    """Render one template; any mistake in a user's template becomes a message with file and line.

    Raises
    ------
    TemplateError
        The template cannot be rendered, for any reason.
    """
    try:
        return env.get_template(template).render(context)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(
            f"template {error.filename or error.name}, line {error.lineno}: {error.message}"
        ) from error
    except jinja2.TemplateNotFound as error:
        raise TemplateError(f"{_place(error, template)}: there is no template {error.name!r}") from error
    except (TemplateError, MemoryError):
        raise  # from a section inside: its place is known; and of memory there is a limit
    except Exception as error:  # a template may divide by zero, or recurse without end
        raise TemplateError(f"{_place(error, template)}: {type(error).__name__}: {error}") from error


def _place(error: Exception, template: str) -> str:
    """Name the file and the line of the innermost template in which the error was raised."""
    place = f"template {template}"
    trace = error.__traceback__
    while trace is not None:
        # The engine gives a template's frames the template's own file and line.
        if ".j2" in trace.tb_frame.f_code.co_filename:
            place = f"template {trace.tb_frame.f_code.co_filename}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place


def source(env: Sandbox, name: str) -> str:
    """Return a file of the search path unrendered: a style sheet, the script.

    Raises
    ------
    TemplateError
        When the user's file is not UTF-8.
    """
    assert env.loader is not None
    try:
        return env.loader.get_source(env, name)[0]
    except UnicodeDecodeError as error:
        raise TemplateError(f"template {name} is not UTF-8: {error}") from error
