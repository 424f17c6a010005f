"""Style sheets of the page and of the PDF: fonts, colours, and the policy that allows them."""

from __future__ import annotations

import base64
import hashlib
import re

from evalreport.plots.style import FONT_FOLDER, MARKS, TOKENS
from evalreport.report.brand import TOKEN


def policy_of(style: str, script: str) -> str:
    """Return the policy under which a browser applies this style and runs this script, and fetches nothing."""
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    sources = "style-src 'sha256-{}'; script-src 'sha256-{}'".format(*digests)
    return (
        f"default-src 'none'; {sources}; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
    )


def font_faces(kind: str) -> str:
    """Return the shipped fonts as CSS, embedded; ``kind`` is ``woff2`` for browsers or ``ttf`` for the PDF."""
    faces = []
    for family, file, weight in (("Inter", "Regular", 400), ("Inter", "SemiBold", 600)):
        data = base64.b64encode((FONT_FOLDER / f"Inter-{file}.{kind}").read_bytes()).decode()
        faces.append(
            f"@font-face{{font-family:{family};font-weight:{weight};font-display:swap;"
            f"src:url(data:font/{kind};base64,{data})}}"
        )
    return "\n".join(faces) + "\n"


def light_tokens(css: str) -> dict[str, str]:
    """Return the light theme's colours by token; for charts, those of the shipped style where the CSS has none."""
    shipped = {token: colour for colour, token in TOKENS.items()}
    return shipped | {name: light.strip() for name, light, _ in TOKEN.findall(css)}


def for_paper(css: str) -> str:
    """Replace every ``light-dark()`` and ``var()`` by the light theme's value."""
    tokens = light_tokens(css)
    css = re.sub(r"light-dark\(([^,()]+),([^,()]+)\)", lambda match: match[1].strip(), css)
    return re.sub(r"var\(--([\w-]+)\)", lambda match: tokens.get(match[1], match[0]), css)


def hiding_rules(keys: list[str]) -> str:
    """Return the rules by which the legend hides a model everywhere at once."""
    return "".join(f".hide-{key} .{key}{{display:none}}" for key in keys) + "\n"


def colour_class(index: int) -> str:
    """Return the class that colours a model's symbol."""
    return f"c{index % len(MARKS)}"


def colour_name(index: int) -> str:
    """Return the token of a model's colour."""
    return f"m{index % len(MARKS)}"
