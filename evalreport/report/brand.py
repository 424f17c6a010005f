"""The brand of a report: name, logo, colours, footer and language, from ``brand.toml`` in the folder of templates."""

from __future__ import annotations

import base64
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evalreport import files
from evalreport.errors import OutputError, UsageError
from evalreport.texts.visible import visible

BRAND_FILE = "brand.toml"
LARGEST_LOGO = 200_000
LARGEST_TEXTS = 1_000_000
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
TOKEN = re.compile(r"--([\w-]+):\s*light-dark\(([^,()]+),([^,()]+)\)")
# By the first bytes, not by the name: what a file says it is decides nothing.
IMAGES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


@dataclass(frozen=True, slots=True)
class Brand:
    """Name, logo and colours of a report's makers; ``logo`` is a data URI, ``colours`` are (light, dark) by token."""

    name: str = "evalreport"
    logo: str = ""
    logo_text: str = ""
    footer: str = ""
    language: str = "en"
    colours: Mapping[str, tuple[str, str]] = field(default_factory=dict)


class TemplateError(OutputError):
    """A template or brand.toml is wrong: what needs it cannot be made; the other outputs are."""


def brand_of(templates: Path | None) -> Brand:
    """Read the brand from the user's folder of templates; without one, the shipped look.

    Parameters
    ----------
    templates
        The folder that may hold ``brand.toml`` and the logo that it names.

    Raises
    ------
    TemplateError
        When brand.toml cannot be read, holds what it should not, or names a logo that is none.
    """
    path, brand = toml_of(templates, BRAND_FILE)
    if path is None:
        return Brand()
    known = ("name", "logo", "logo_text", "footer", "language", "colours")
    for key in brand:
        if key not in known:
            raise TemplateError(f"{path}: unknown key {key!r}; there are {', '.join(known)}")
    name = _text(brand, "name", path, "evalreport")
    language = _text(brand, "language", path, "en")
    if not LANGUAGE.fullmatch(language):
        raise TemplateError(f"{path}: language = {language!r} is not a language tag such as 'en' or 'de-AT'")
    logo = _logo(path, _text(brand, "logo", path, ""))
    return Brand(
        name=name,
        logo=logo,
        logo_text=_text(brand, "logo_text", path, f"Logo of {name}") if logo else "",
        footer=_text(brand, "footer", path, ""),
        language=language,
        colours=_colours(brand.get("colours", {}), path),
    )


def check_templates(templates: Path | None) -> None:
    """Check that the user's folder of templates is there.

    Raises
    ------
    UsageError
        It is not.
    """
    if templates is not None and not templates.is_dir():
        raise UsageError(f"--templates {templates}: no such folder")


def toml_of(templates: Path | None, name: str) -> tuple[Path | None, dict[str, object]]:
    """Read a TOML file of the user's folder of templates; (None, {}) where there is none.

    Raises
    ------
    TemplateError
        It is outside the folder, is too large, or cannot be read.
    """
    path = None if templates is None else file_of(templates, name)
    if path is None or not path.is_file():
        return None, {}
    try:
        if path.stat().st_size > LARGEST_TEXTS:
            raise TemplateError(f"{path}: has more than {LARGEST_TEXTS:,} bytes")
        return path, files.toml_of(path)
    except UsageError as error:
        raise TemplateError(str(error)) from error
    except OSError as error:
        raise TemplateError(f"{path}: {error}") from error


def file_of(templates: Path, name: str) -> Path:
    """Return a path in the user's folder of templates, whether or not there is a file.

    Raises
    ------
    TemplateError
        It leads out of the folder, by ``..`` or by a link.
    """
    path = templates / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(templates)):
        raise TemplateError(f"{path}: lies outside the folder of templates; copy it there")
    return path


def _text(found: Mapping[str, object], key: str, path: Path, default: str) -> str:
    value = found.get(key, default)
    if not isinstance(value, str):
        raise TemplateError(f"{path}: {key} must be a text in quotes, not {value!r}")
    return visible(value)


def _logo(path: Path, name: str) -> str:
    """Return the picture as a data URI: a page that works offline holds it, and nothing is fetched."""
    if not name:
        return ""
    try:
        file = file_of(path.parent, name)
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise TemplateError("is no file")
        if status.st_size > LARGEST_LOGO:
            raise TemplateError(f"has {status.st_size:,} bytes; at most {LARGEST_LOGO:,} fit")
        content = file.read_bytes()
    except TemplateError as error:
        raise TemplateError(f"{path}: logo = {name!r}: {error}") from None
    except OSError as error:
        raise TemplateError(f"{path}: logo = {name!r}: {error.strerror}") from error
    kind = next((mime for start, mime in IMAGES if content.startswith(start)), None)
    if kind is None and re.match(rb"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<svg\b", content, re.DOTALL):
        kind = "image/svg+xml"
    if kind is None:
        raise TemplateError(f"{path}: logo = {name!r} is neither an SVG nor a PNG nor a JPEG picture")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _colours(found: object, path: Path) -> dict[str, tuple[str, str]]:
    if not isinstance(found, dict):
        raise TemplateError(f"{path}: colours must be a table [colours]")
    colours = {}
    for token, value in found.items():
        pair = value if isinstance(value, list) else [value, value]
        if len(pair) != 2 or not all(isinstance(c, str) and COLOUR.fullmatch(c) for c in pair):
            raise TemplateError(
                f"{path}: colours.{token} = {value!r} must be '#rrggbb', or two of them: light and dark theme"
            )
        colours[token] = (pair[0], pair[1])
    return colours


def with_colours(css: str, brand: Brand) -> str:
    """Put the brand's colours in the place of the style sheet's tokens.

    Raises
    ------
    TemplateError
        When the style sheet has no such token.

    Examples
    --------
    >>> with_colours("--ink: light-dark(#000000, #ffffff);", Brand(colours={"ink": ("#111111", "#eeeeee")}))
    '--ink: light-dark(#111111, #eeeeee);'
    """
    tokens = [match[1] for match in TOKEN.finditer(css)]
    for token in brand.colours:
        if token not in tokens:
            raise TemplateError(f"{BRAND_FILE}: no colour is called {token!r}; there are {', '.join(tokens)}")

    def replaced(match: re.Match[str]) -> str:
        pair = brand.colours.get(match[1])
        return match[0] if pair is None else f"--{match[1]}: light-dark({pair[0]}, {pair[1]})"

    return TOKEN.sub(replaced, css)


def running_foot(brand: Brand) -> str:
    """Return the paging rules that print the name and the footer on every page of the PDF."""
    rules = [f"@bottom-left{{content:{_quoted(brand.name)}}}"]
    if brand.footer:
        rules.append(f"@bottom-center{{content:{_quoted(brand.footer)}}}")
    return f"@page{{{''.join(rules)}}}\n"


def _quoted(text: str) -> str:
    """Write a text as a CSS string in which nothing ends the string, the rule or the style element."""
    return '"' + re.sub(r'["\\<>&\n\r\f]', lambda match: f"\\{ord(match[0]):x} ", text) + '"'
