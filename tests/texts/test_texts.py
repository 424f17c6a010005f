"""What the report says stands in one catalogue: complete, without leftovers elsewhere, and translated by one file."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

import evalreport as er
from evalreport.metrics.registry import METRICS
from evalreport.options import OutputOptions
from evalreport.report import render, sections
from evalreport.report.sections import SECTIONS
from evalreport.report.templates import template_folder
from evalreport.report.translations import shipped_texts
from evalreport.schema.results import Results
from evalreport.texts import PLACEHOLDER, Catalogue, Message, english, say, speaking
from scripts.golden_reports import CASES
from scripts.golden_reports import _source as source_of
from tests.samples.syntax import nodes_of, tree_of

Simulate = Callable[..., Results]

REPORT = Path(sections.__file__).parents[1]

TEMPLATES = sorted(template_folder().rglob("*.j2"))

MODULES = sorted(
    [
        *REPORT.glob("*.py"),
        *(REPORT / "sections").glob("*.py"),
        *(REPORT.parent / "questions").glob("*/*section.py"),
    ]
)

PACKAGE = sorted(REPORT.parent.rglob("*.py"))

# Those that describe what is said; the others deal with mark-up, files and errors.
SAYING = [
    path
    for path in MODULES
    if path.parent.name == "sections"
    or path.stem.endswith("section")
    or path.stem in {"reasons", "terminal", "naming", "markdown", "view"}
]

# What is read out of the results' own sentences, or is a command: no text of the report.
NO_TEXTS = {"slices of ", "evalreport run MODELS", "evalreport audit MODELS --history URL", "positive class"}
NO_TEXTS |= {"lined findings", "lined questions tries", "lined questions bars"}  # classes
NO_TEXTS |= {"number muted", "tests every-test"}
NO_TEXTS |= {
    "; our own combination",
    ", our own combination",
    ", chosen by simulation",
}  # cut off where it is said already

# What chooses a form, or how numbers are written, need not stand in a text; what a warning is about never does.
FORMED = re.compile(r"number|signed|digits|\w*interval|\w*amounts?|changes?|figure")

BESIDE = {"about", "level"}
PARTS_OF_AN_ERROR = ("problem", "expected", "remedy")


def forms(entry: object) -> list[str]:
    """Give a text, or all its plural forms."""
    return list(entry.values()) if isinstance(entry, dict) else [str(entry)]


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    """Find the calls of these functions in a file."""
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield node


def literals(node: ast.expr | None) -> list[str]:
    """Give the keys that an argument may be: written out, chosen by a condition, or with parts filled in."""
    match node:
        case ast.Constant(value=str(key)):
            return [key]
        case ast.IfExp(body=body, orelse=orelse):
            return [*literals(body), *literals(orelse)]
        case ast.JoinedStr(values=parts):
            pattern = "".join(
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in parts
            )
            return re.findall(f"^{pattern}$", every_key(), re.MULTILINE) or [pattern]
    return []


@cache
def every_key() -> str:
    """Return the keys of the catalogue, one a line: a pattern looks through all of them at once."""
    return "\n".join(english())


@cache
def uses(path: Path) -> list[tuple[ast.Call, list[str]]]:
    """Return the calls that say a text, make a message or a warning, each with the keys that it may name."""
    return list(_uses(path))


def _uses(path: Path) -> Iterator[tuple[ast.Call, list[str]]]:
    if not re.search(r"\b(say|Message|warning)\(", path.read_text(encoding="utf-8")):
        return
    imported = {
        alias.name
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom)
        and node.module in ("evalreport.texts", "evalreport.schema.warnings")
        for alias in node.names
    }
    ours = {"say", "Message", "warning"} & imported
    for call in calls(path, *({"say", "Message"} if path.parent.name == "texts" else ours)):
        first = call.args[0] if call.args else None
        keys = literals(first)
        if isinstance(call.func, ast.Name) and call.func.id == "warning" and isinstance(first, ast.Constant):
            named = (
                [f"warning.{first.value}.{name}" for name in literals(call.args[1])] if call.args[1:] else []
            )
            several = [key for key in english() if key.startswith(f"warning.{first.value}.")]
            keys = named or several if call.args[1:] else [f"warning.{first.value}"]
        yield call, keys


@cache
def kinds_of_errors() -> frozenset[str]:
    """Return the kinds of errors of the input that the catalogue has."""
    return frozenset(key.split(".")[1] for key in english() if key.startswith("input."))


def makes_an_error(function: ast.expr) -> bool:
    """Whether a function that is called is one of those that make an error of the input."""
    if isinstance(function, ast.Name):
        return function.id in ("fault", "refuse_where", "blame")
    return isinstance(function, ast.Attribute) and function.attr in ("of", "fault")


def kinds_handed_on(path: Path) -> set[str]:
    """Return the kinds of errors of the input that any call is given: what makes the error may be a helper."""
    given = (literals(arg) for node in nodes_of(path) if isinstance(node, ast.Call) for arg in node.args)
    return {key for keys in given for key in keys} & kinds_of_errors()


def assigned(function: ast.AST) -> dict[str, list[ast.expr]]:
    """Return what each local name of a function is set to, and added to it."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                pairs = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=False))
                for name, value in pairs:
                    values.setdefault(ast.unparse(name), []).append(value)
    return values


def names_filled(keywords: list[ast.keyword], local: dict[str, list[ast.expr]]) -> set[str | None]:
    """Give the names that a call fills, also by ``**`` of a dictionary that stands in the function."""
    names: set[str | None] = set()
    for keyword in keywords:
        if keyword.arg is not None:
            names.add(keyword.arg)
            continue
        for value in [keyword.value, *local.get(ast.unparse(keyword.value), [])]:
            keys = value.keys if isinstance(value, ast.Dict) else []
            names |= {key.value for key in keys if isinstance(key, ast.Constant)}
    return names


def errors_of_the_input(path: Path) -> Iterator[tuple[ast.Call, list[str], set[str | None]]]:
    """Yield the calls that make an error of the input, each with the kinds that it may name, and what it fills."""
    kinds = kinds_of_errors()
    bodies = [tree_of(path).body, *(n.body for n in tree_of(path).body if isinstance(n, ast.ClassDef))]
    for function in (node for body in bodies for node in body if isinstance(node, ast.FunctionDef)):
        local = assigned(function)
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            args, filled = list(node.args), names_filled(node.keywords, local)
            made = makes_an_error(node.func)
            for value in local.get(ast.unparse(node.func), []):
                # By functools.partial: a function that makes one, its kind, and a part of what it fills.
                if isinstance(value, ast.Call) and ast.unparse(value.func) == "partial":
                    filled |= names_filled(value.keywords, local)
                    made, *further = [makes_an_error(value.args[0]), *value.args[1:]]
                    args = [*further, *args]
            for arg in args if made else ():
                named = [*literals(arg), *(k for v in local.get(ast.unparse(arg), []) for k in literals(v))]
                if some := [kind for kind in named if kind in kinds]:
                    yield node, some, filled


@pytest.mark.slow
def test_errors_of_the_input_fill_exactly_the_placeholders() -> None:
    """Every kind of error in the catalogue is raised somewhere, and each call fills all of its texts."""
    raised: set[str] = set()
    kinds = kinds_of_errors()
    for path in PACKAGE:
        raised |= kinds_handed_on(path)
        for call, codes, filled in errors_of_the_input(path):
            raised |= set(codes)
            given = filled - {"file", "line", "column"}
            # A fault about a row knows whose it is.
            of_row = {"id", "model"} if "fault" in ast.unparse(call.func) else set()
            for code in codes:
                texts = [str(english().get(f"input.{code}.{part}", "")) for part in PARTS_OF_AN_ERROR]
                needed = {name for text in texts for name, _ in PLACEHOLDER.findall(text)} - {"cell"}
                assert needed <= given | of_row, (path.name, call.lineno, code)
            every = {
                name
                for code in codes
                for part in PARTS_OF_AN_ERROR
                for name, _ in PLACEHOLDER.findall(str(english().get(f"input.{code}.{part}", "")))
            }
            assert given - {"count"} <= every, (path.name, call.lineno, codes)
    parts = {"train", "validation", "train_and_validation"}
    assert kinds - raised == {f"no_test_row_but_{held}" for held in parts}


def used_keys() -> tuple[set[str], set[str]]:
    """Give every key that code and templates name, and every group of which a name is looked up."""
    keys = {key for path in PACKAGE for _, named in uses(path) for key in named}
    groups: set[str] = set()
    for source in [path.read_text() for path in [*PACKAGE, *template_folder().rglob("*.j2")]]:
        # A key also stands in a table or a choice: any string that has its form counts as used.
        keys |= {
            match for match in re.findall(r"[\"']([\w-]+(?:\.[\w-]+)+)[\"']", source) if match in english()
        }
        groups |= set(re.findall(r"(?:named|group_of)\([\"']([\w.-]+)[\"']", source))
        groups |= set(re.findall(r"[\"']([a-z_.]+)\.\{", source))
    return keys, groups


@pytest.mark.slow
def test_every_key_that_is_named_exists() -> None:
    """Neither code nor a template asks for a text that the catalogue has not."""
    asked = {key for path in PACKAGE for _, named in uses(path) for key in named}
    for path in TEMPLATES:
        asked |= set(re.findall(r"say\([\"']([^\"']+)[\"']", path.read_text()))
    assert len(asked) > 200
    assert asked - english().keys() == set()


@pytest.mark.slow
def test_every_text_is_used() -> None:
    """No text is left over: each is named, or is of a group in which names are looked up."""
    keys, groups = used_keys()
    left = [
        k
        for k in english()
        if k not in keys and k.rpartition(".")[0] not in groups and not k.startswith("input.")
    ]
    assert left == []


def test_every_section_has_its_heading() -> None:
    """A section is titled by the catalogue, also in a brief report."""
    names = {s.name for s in SECTIONS} | {s.brief_heading for s in SECTIONS if s.brief_heading}
    assert {f"heading.{name}" for name in names} <= english().keys()


def fills(call: ast.Call, key: str) -> bool:
    """Say whether a call gives what a text needs, and nothing that no form of it takes."""
    entry = english()[key]
    found = [pair for form in forms(entry) for pair in PLACEHOLDER.findall(form)]
    needed: set[str | None] = {name for name, _ in found}
    given = {keyword.arg for keyword in call.keywords}
    if isinstance(call.func, ast.Name) and call.func.id == "warning":
        given -= BESIDE
    spare = {"n"} if isinstance(entry, dict) else set()
    if any(FORMED.fullmatch(form) for _, form in found):
        spare |= {"decimals", "digits", "half"}
    # Behind ** (None) may stand whatever is lacking.
    return (None in given or needed <= given) and given <= needed | spare | {None}


def test_calls_fill_exactly_the_placeholders() -> None:
    """Each call fills the texts that it names; of those that a key with parts filled in may be, at least one."""
    wrong = []
    for path in PACKAGE:
        for call, keys in uses(path):
            filled = [fills(call, key) for key in keys]
            built = any(
                isinstance(node, (ast.JoinedStr, ast.Name)) for arg in call.args for node in ast.walk(arg)
            )
            if keys and not (any(filled) if built else all(filled)):
                wrong.append((path.name, call.lineno, keys))
    assert wrong == []


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_says_anything_itself(path: Path) -> None:
    """Between the marks of a template no two words follow each other: what is said has a key."""
    source = path.read_text()
    # A quoted string inside an expression may hold words for a reader too.
    inside = " ".join(re.findall(r"{[{%].*?[%}]}", source, re.DOTALL))
    literals = [
        s for s in re.findall(r"\"([^\"{}%\n]*)\"", inside) if re.fullmatch(r"[A-Z][\w ,.-]* [\w ,.-]+", s)
    ]
    bare = re.sub(r"{#.*?#}|{{.*?}}|{%.*?%}|<!--.*?-->|<[^>]*>", "\n", source, flags=re.DOTALL)
    assert re.findall(r"[A-Za-z]{3,},? [A-Za-z]{2,}.*", bare.replace('data-tip="', "")) == []
    assert literals == []


@pytest.mark.parametrize("path", SAYING, ids=lambda path: path.stem)
def test_no_section_says_anything_itself(path: Path) -> None:
    """In the modules that describe sections no string but a docstring holds words that follow each other."""
    tree = tree_of(path)
    documented = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented
    ]
    assert [s for s in found if re.search(r"[A-Za-z]{2,},? [A-Za-z]{2,}", s) and s not in NO_TEXTS] == []


def pseudo() -> Catalogue:
    """Translate every text by putting it into brackets, so that what is not translated can be seen."""
    return {
        key: {name: f"⟦{form}⟧" for name, form in entry.items()} if isinstance(entry, dict) else f"⟦{entry}⟧"
        for key, entry in shipped_texts().items()
    }


def toml(catalogue: Catalogue) -> str:
    """Write a catalogue as a user would, every key in full."""
    import json

    def quoted(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)

    lines = []
    for key, entry in catalogue.items():
        name = ".".join(f'"{part}"' for part in key.split("."))
        if isinstance(entry, dict):
            lines += [f"{name}.{form} = {quoted(text)}" for form, text in entry.items()]
        else:
            lines.append(f"{name} = {quoted(str(entry))}")
    return "\n".join(lines)


@pytest.mark.usefixtures("templates_here", "undrawn")
def test_a_translation_is_one_file(simulate: Simulate, tmp_path: Path) -> None:
    """With every text in brackets, each heading, caption, head of a column that is ours, and control has them."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "texts.toml").write_text(toml(pseudo()), encoding="utf-8")
    (mine / "brand.toml").write_text('language = "de"\n')
    render(
        simulate(),
        tmp_path / "out",
        options=OutputOptions(formats=("html", "md"), detail="full", templates=mine),
    )
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<html lang="de">' in page
    for pattern in (
        r"<h2.*?</h2>",
        r"<summary>.*?</summary>",
        r"<figcaption>.*?</figcaption>",
        r'aria-label="[^"]+"',
    ):
        found = re.findall(pattern, page, re.DOTALL)
        assert len(found) > 3
        assert [text for text in found if "⟦" not in text and "Legend" not in text] == []
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page, re.DOTALL)
    assert sum("⟦" in head for head in heads) > 20
    assert "{" not in re.sub(r"<(style|script)>.*?</\1>|data-words='.*?'", "", page, flags=re.DOTALL)
    summary = (tmp_path / "out" / "summary.md").read_text(encoding="utf-8")
    assert "⟦" in summary.splitlines()[1]
    assert "<summary>⟦" in summary


class Shown(HTMLParser):
    """Every text of a page that a reader meets, the words of its attributes among them."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what assistive tools read out."""
        self.silent += tag in {"style", "script"}
        self.texts += [value for name, value in attrs if name in {"aria-label", "title", "alt"} and value]

    def handle_endtag(self, tag: str) -> None:
        """Listen again."""
        self.silent -= tag in {"style", "script"}

    def handle_data(self, data: str) -> None:
        """Take a text."""
        if not self.silent:
            self.texts.append(data)


def outside_of_brackets(text: str) -> str:
    """Give what of a text is not translated."""
    found, depth = [], 0
    for character in text:
        depth += (character == "⟦") - (character == "⟧")
        found.append(character if depth == 0 and character not in "⟦⟧" else " ")
    return "".join(found)


SYMBOLS = frozenset(
    {"evalreport", "df", "EER", "TP", "FP", "FN", "TN", "n", "p", "vs", "MODELS", "json", "html", "md"}
)
"""Names of counts, of this program and of its files, in every language."""


@pytest.mark.slow
@pytest.mark.usefixtures("templates_here")
@pytest.mark.parametrize("case", ["binary", "slices", "folds"])
def test_no_word_of_a_report_stands_outside_of_the_catalogue(case: str, tmp_path: Path) -> None:
    """With every text in brackets, what is left are names (of models, classes, columns, files, codes) and numbers."""
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "texts.toml").write_text(toml(pseudo()), encoding="utf-8")
    files, options = CASES[case]
    results = er.evaluate(source_of(files, options), resamples=50, **options)
    render(results, tmp_path / "out", options=OutputOptions(formats=("html",), templates=mine))
    page = Shown()
    page.feed((tmp_path / "out" / "report.html").read_text(encoding="utf-8"))
    left = outside_of_brackets("\n".join(page.texts))
    # Commands, formulas and sources are what they are in any language.
    formulas = {metric.display.formula for metric in METRICS.values()}
    lines = [
        line
        for line in left.splitlines()
        if line.strip() not in formulas and not re.search(r"evalreport |[=(:]", line)
    ]
    data = " ".join(
        map(str, (*results.models, *results.classes, *(i.path for i in results.inputs), *options))
    )
    names = set(
        re.findall(r"[A-Za-z]+", f"{data} {results.signature} {results.options} {results.environment}")
    )
    names |= {word for warning in results.warnings for word in warning.code.split("_")} | SYMBOLS
    names |= {word for record in results.disagreements for word in re.findall(r"[A-Za-z]+", record.id)}
    names |= {word for record in results.found for word in re.findall(r"[A-Za-z]+", str(record.value))}
    assert [line for line in lines if set(re.findall(r"\b[A-Za-z]{2,}\b", line)) - names] == []


def test_outside_of_a_translation_the_report_speaks_english(simulate: Simulate) -> None:
    """A translation ends with the outputs that it was for."""
    with speaking(pseudo()):
        assert say("table.model") == "⟦Model⟧"
    assert say("table.model") == "Model"


@pytest.mark.parametrize("made", [Message, say])
def test_a_text_that_is_missing_is_named_with_its_place(made: Callable[[str], object]) -> None:
    """A test or a sampling whose text was forgotten stops the import: the message says where the text is written."""
    with pytest.raises(
        KeyError, match=r"no text test\.assumptions\.mine: write mine under \[test\.assumptions\]"
    ):
        made("test.assumptions.mine")


def test_values_are_filled_in_once_and_escaped(simulate: Simulate, tmp_path: Path) -> None:
    """A model that is called like a placeholder or like mark-up stays a text, in HTML and in Markdown."""
    assert say("list.and", names="{b}", last="{names}") == "{b} and {names}"
    names = {"<b>{metric}</b>": 1.9, "x|y": 1.0}
    render(simulate(names), tmp_path, options=OutputOptions(formats=("html", "md")))
    page, summary = ((tmp_path / n).read_text() for n in ("report.html", "summary.md"))
    assert "&lt;b&gt;{metric}&lt;/b&gt;" in page
    assert "<b>{metric}" not in page
    assert "&lt;b&gt;{metric}&lt;/b&gt;" in summary
    assert r"x\|y" in summary


def test_plural_forms_follow_the_number() -> None:
    """English has one and other; a language may also tell 2, and 2 to 4 from the rest."""
    assert [say("decision.examples", n=n) for n in (1, 2, 1200)] == [
        "one example",
        "2 examples",
        "1,200 examples",
    ]
    slavic = {**english(), "report.models": {"one": "{n} a", "few": "{n} b", "other": "{n} c"}}
    with speaking(slavic):
        assert [say("report.models", n=n) for n in (1, 2, 5, 12, 23)] == ["1 a", "2 b", "5 c", "12 c", "23 b"]
