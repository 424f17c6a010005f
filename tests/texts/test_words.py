"""What the program must never say: every text in the package and its templates is read."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from evalreport.texts import flat
from tests.samples.syntax import tree_of

ROOT = Path(__file__).resolve().parents[2]

FORBIDDEN = {
    "proof": r"\b(proves?|proven|proof)\b",
    "sameness from a test": r"\bno (significant )?differences?\b|\bthe same performance\b|\bas good as\b",
    "a p-value of zero": r"p\s*=\s*0\.0+\b(?!\d)",
    "a probability of the truth": r"\d ?% (probability|chance) that the (truth|true)",
    "equal models": r"\bmodels? (is|are|perform\w*) (equal|identical)\b|\bequally well\b",
    "the best without a test": r"\bclearly (better|best|worse)\b|\bhighly significant\b",
}
# Sentences that speak about such words, not with them.
ABOUT = (
    "that does not make them equal",
    "do not mean “no difference”",
    "does not mean that the models are equally good",
    "no difference of nearly equal numbers, so h can be",  # of numbers, in the complex step
)


def docstrings(tree: ast.Module) -> set[int]:
    """Return the ids of the constants that are docstrings; those of functions with a summary are printed, so kept."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef) and node.body and isinstance(node.body[0], ast.Expr):
            found.add(id(node.body[0].value))
    return found


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Read them once, and only where a test asks for them."""
    return tuple(read())


def read() -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every string of the package, adjacent parts joined, and of every template."""
    for path in sorted((ROOT / "evalreport").rglob("*.py")):
        tree = tree_of(path)
        left_out = docstrings(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " ".join(node.value.split())
    for path in sorted((ROOT / "evalreport" / "texts").rglob("*.toml")):
        for key, entry in flat(tomllib.loads(path.read_text(encoding="utf-8"))):
            for form in entry.values() if isinstance(entry, dict) else [entry]:
                yield f"{path.relative_to(ROOT)}: {key}", form
    for path in sorted((ROOT / "templates").rglob("*.j2")):
        yield str(path.relative_to(ROOT)), " ".join(path.read_text(encoding="utf-8").split())


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORBIDDEN)
def test_no_text_says_more_than_a_test_can(kind: str):
    """No string of the package and no template holds a forbidden wording."""
    wrong = []
    for place, text in texts():
        for said in ABOUT:
            text = text.replace(said, "")
        match = re.search(FORBIDDEN[kind], text, re.IGNORECASE)
        if match:
            wrong.append(f"{place}: {match[0]!r} in {text[:100]!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_significant_stands_with_its_test_or_not_at_all():
    """The word in a text of the package is about digits, or names a test or p in the same sentence."""
    for place, text in texts():
        for sentence in re.split(r"(?<=[.!?;])\s", text):
            if re.search(r"\bsignifican", sentence, re.IGNORECASE):
                assert re.search(r"\btests?\b|\bp\b|digit", sentence), f"{place}: {sentence}"


@pytest.mark.parametrize(
    "kind, text",
    [
        ("proof", "this proves that forest is better"),
        ("sameness from a test", "there is no significant difference between the two"),
        ("a p-value of zero", "Holm p = 0.000"),
        ("a probability of the truth", "95 % probability that the true value lies inside"),
        ("equal models", "the models are equal on accuracy"),
        ("the best without a test", "forest is clearly better"),
    ],
)
def test_the_patterns_find_what_they_are_for(kind: str, text: str):
    """A pattern that finds nothing would let everything pass."""
    assert re.search(FORBIDDEN[kind], text, re.IGNORECASE)
