"""Check the imports: down the order of the packages in docs/design.md, in no circle, none by a string, heavy ones late.

Run without arguments from anywhere; prints one line for each breach and exits 1 if there is any.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "evalreport"
ROOT = Path(__file__).resolve().parent.parent
DESIGN = Path("docs", "design.md")
"""The page with the order of the packages: lines ``-> package, package``, the lowest first, then from left to right."""

# Stand on the core, and not on one another.
EXTENSIONS = frozenset({"audit", "verify", "reviews", "refit", "imports", "scale", "looks"})
# Draw and describe results alone; the registries say what metrics, intervals and tests are called, and the facts and
# rules of the headline read results alone as well.
USE_RESULTS_ALONE = frozenset({"plots", "report"})
ALSO_FOR_RESULTS_ALONE = frozenset(
    {f"{PACKAGE}.{name}" for name in ("metrics", "intervals", "comparisons", "headline", "headline.facts")}
) | {f"{PACKAGE}.gates.conditions"}
FINDINGS = ".findings"
"""A room's module of what the headline and the room's section both say; it reads results alone as well."""
# Loaded when the package is imported or help is printed, so they load nothing that these do not need.
LIGHT = frozenset(
    {
        "", "version", "numbers", "keywords", "texts", "errors", "platform", "files", "registry", "extensions", "keys",
        "schema", "options", "cli",
    }
)  # fmt: skip
QUESTIONS, ROOMS = "questions", "rooms"
# A file of a room obeys the imports of the package whose work it does; all others stand at `rooms` in the order.
ROLES = {
    "records": "schema", "options": "schema", "declared_options": "schema", "declared_lists": "schema",
    "interval": "intervals", "gates": "gates",
    "clause": "headline", "findings": "headline", "charts": "plots", "group_tables": "report",
}  # fmt: skip
# Rooms that may import another one; the records of all of them are part of the schema.
BETWEEN_ROOMS = {"slices": frozenset({"calibration"})}  # calibration is described within each slice, too
# An extension's commands, imported to print their help.
COMMANDS = "/commands.py"
# Below all others, so that plots and report may import them too.
BASE = LIGHT - {"", "cli"}
# Lazy public names; the table of commands and services; users' estimators.
BY_A_STRING = frozenset(
    {f"{PACKAGE}/__init__.py", f"{PACKAGE}/extensions.py", f"{PACKAGE}/refit/building.py"}
)
# Results show themselves (`repr`, notebooks) by a public function, the only call of the package's own page from below.
CALLS_THE_PAGE = frozenset({f"{PACKAGE}/schema/results.py"})

HEAVY = frozenset(
    {
        "dask", "distributed", "duckdb", "jinja2", "joblib", "matplotlib", "narwhals", "numpy", "pandas",
        "polars", "psycopg", "pyarrow", "pypdf", "rich", "scipy", "sklearn", "sqlalchemy", "statsmodels", "weasyprint",
    }
)  # fmt: skip
# Slow to import and needed by few commands: inside functions only, everywhere.
LAZY_EVERYWHERE = frozenset(
    {
        "dask", "distributed", "joblib", "matplotlib", "pandas", "polars", "psycopg", "sklearn", "sqlalchemy",
        "statsmodels", "weasyprint",
    }
)  # fmt: skip
LAZY_EXCEPT_IN = {"matplotlib": frozenset({"plots"})}
PACKAGE_OF_TEMPLATES = "report"
BANNED_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})


@dataclass(frozen=True, slots=True)
class Import:
    """One import of one module.

    Attributes
    ----------
    module
        Its full name.
    eager
        Whether it runs when the importing module is loaded.
    typing
        Whether only type checkers see it.
    """

    module: str
    line: int
    eager: bool
    typing: bool = False


def breaches(root: Path) -> Iterator[str]:
    """Yield one line for each breach in the package below ``root`` and in its scripts and tests."""
    package = root / PACKAGE
    modules = sorted(package.rglob("*.py"))
    known = {_dotted(path, root) for path in modules}
    order = order_of_packages((root / DESIGN).read_text(encoding="utf-8"))
    imports: dict[str, list[Import]] = {}
    for path in modules:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text, filename=str(path))
        imports[_dotted(path, root)] = found = list(imports_of(tree, known))
        where = path.relative_to(root).as_posix()
        for line, problem in (
            *_import_breaches(where, found, order),
            *_imports_by_a_string(where, text, tree),
        ):
            yield f"{where}:{line}: {problem}"
    yield from _circles({name: {found.module for found in own} & known for name, own in imports.items()})
    for folder in (package, root / "scripts", root / "tests"):
        for path in sorted(folder.rglob("*.py")):
            if path.stem in BANNED_NAMES:
                said = f"a module called {path.stem} says nothing; name it after what is in it"
                yield f"{path.relative_to(root)}:1: {said}"


def order_of_packages(page: str) -> dict[str, int]:
    """Return each package's place in the order that a page states.

    Examples
    --------
    >>> order_of_packages("-> texts, errors    below everything")
    {'texts': 0, 'errors': 1}
    """
    lines = re.findall(r"^\s*->\s*([a-z_]+(?:\s*,\s*[a-z_]+)*)", page, re.MULTILINE)
    names = [name.strip() for line in lines for name in line.split(",")]
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def _circles(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield a line for each circle of imports, also of those inside functions or for type checkers.

    The package's own page takes no part: it fetches everything lazily.
    """
    graph = {name: targets - {name, PACKAGE} for name, targets in graph.items() if name != PACKAGE}
    reached: dict[str, set[str]] = {}
    for start in graph:
        found: set[str] = set()
        pending = [start]
        while pending:
            new = graph.get(pending.pop(), set()) - found
            found |= new
            pending += new
        reached[start] = found
    circles = {tuple(sorted(m for m in graph if m in reached[s] and s in reached[m])) for s in graph}
    for members in sorted(members for members in circles if len(members) > 1):
        yield f"{members[0].replace('.', '/')}.py:1: a circle of imports: {', '.join(members)}"


def part_of(where: str) -> str:
    """Return the part of the package that a file belongs to; the package's own ``__init__`` is ''.

    Examples
    --------
    >>> [part_of(f"evalreport/{path}") for path in ("metrics/labels.py", "errors.py", "__init__.py")]
    ['metrics', 'errors', '']
    >>> [part_of(f"evalreport/questions/costs/{name}.py") for name in ("records", "compute", "section")]
    ['schema', 'rooms', 'report']
    """
    name = Path(where).parts[1]
    if name == QUESTIONS:
        stem = Path(where).stem
        return "report" if stem.endswith("section") else ROLES.get(stem, ROOMS)
    return "" if name == "__init__.py" else name.removesuffix(".py")


def room_of(module: str) -> str:
    """Return the room that a module belongs to; '' outside of all rooms.

    Examples
    --------
    >>> room_of("evalreport.questions.costs.gates"), room_of("evalreport.gates.outcomes")
    ('costs', '')
    """
    parts = module.split(".")
    return parts[2] if parts[1:2] == [QUESTIONS] and len(parts) > 3 else ""


def _dotted(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _import_breaches(
    where: str, imports: list[Import], order: Mapping[str, int]
) -> Iterator[tuple[int, str]]:
    part = part_of(where)
    if part not in order and part not in {"", "__main__"}:
        yield 1, f"{part!r} is in no line of the order of packages; add it to {DESIGN.as_posix()}"
        return
    for found in imports:
        parts = found.module.split(".")
        if parts[0] == PACKAGE:
            target = part_of(f"{found.module.replace('.', '/')}.py") if len(parts) > 1 else ""
            problem = _direction(where, target, found, order) or _between_rooms(where, found)
        elif not found.typing:
            problem = _library(where, parts[0], found)
        else:
            problem = None
        if problem:
            yield found.line, problem


def _direction(where: str, target: str, found: Import, order: Mapping[str, int]) -> str | None:
    part = part_of(where)
    eager = found.eager and not found.typing
    if part in {"", "__main__"}:
        if eager and target not in LIGHT:
            return f"the package itself imports {found.module} eagerly; import it when it is first used"
        return None
    if target == "":
        if where in CALLS_THE_PAGE and not found.eager:
            return None
        return f"{part} imports the package's own page, which is above everything"
    if target not in order or target == part:
        return None  # a package that is in no line is reported where it is
    if order[target] > order[part]:
        return f"{part} imports {found.module}, which is higher in the order of packages"
    if target in EXTENSIONS and part in EXTENSIONS:
        return f"{part} imports {found.module}: extensions do not import one another"
    if part in USE_RESULTS_ALONE and not (
        target in BASE | USE_RESULTS_ALONE
        or found.module in ALSO_FOR_RESULTS_ALONE
        or found.module.endswith(FINDINGS)
    ):
        return f"{part} uses results alone but imports {found.module}"
    if (part in LIGHT or where.endswith(COMMANDS)) and eager and target not in LIGHT:
        return f"{part} imports {found.module} eagerly; `--help` would load it"
    return None


def _between_rooms(where: str, found: Import) -> str | None:
    own, other = room_of(where.removesuffix(".py").replace("/", ".")), room_of(found.module)
    if found.module.endswith((".records", ".options")):
        return None
    if own and other and own != other and other not in BETWEEN_ROOMS.get(own, frozenset()):
        return f"the room of {own} imports that of {other}; what both need stands below both"
    return None


def _library(where: str, library: str, found: Import) -> str | None:
    part = part_of(where)
    if library == "jinja2" and part != PACKAGE_OF_TEMPLATES:
        return f"{part or 'the package itself'} imports jinja2; only {PACKAGE_OF_TEMPLATES}/ writes documents"
    if not found.eager:
        return None
    if (part in LIGHT or where.endswith(COMMANDS)) and library in HEAVY:
        return f"{part or 'the package itself'} imports {library} eagerly; `--help` would load it"
    if library in LAZY_EVERYWHERE and part not in LAZY_EXCEPT_IN.get(library, frozenset()):
        return f"{part} imports {library} at the top of the file; few commands need it, so import it inside"
    return None


def _imports_by_a_string(where: str, text: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    if where in BY_A_STRING or not re.search("import_module|__import__", text):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and re.search(
            r"(^|\.)(import_module|__import__)$", ast.unparse(node.func)
        ):
            yield node.lineno, "an import by a string, which no check can follow; write an import"


def imports_of(tree: ast.Module, known: set[str]) -> Iterator[Import]:
    """Yield the imports of one module."""
    pending: list[tuple[ast.AST, bool, bool]] = [(tree, True, False)]
    while pending:
        node, eager, typing = pending.pop()
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, eager, typing) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from_imports(node, eager, typing, known)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend((child, eager, True) for child in node.body)
            pending.extend((child, eager, typing) for child in node.orelse)
            continue
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        statements = (child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))
        pending.extend((child, eager and not inside, typing) for child in statements)


def _from_imports(node: ast.ImportFrom, eager: bool, typing: bool, known: set[str]) -> Iterator[Import]:
    if node.level:
        # A relative import cannot be read by eye across packages; the package spells names in full.
        yield Import(f"{PACKAGE}.<relative>", node.lineno, eager, typing)
        return
    base = node.module or ""
    for alias in node.names:
        full = f"{base}.{alias.name}"
        yield Import(full if full in known else base, node.lineno, eager, typing)


def main() -> int:
    """Print every breach; return the exit code."""
    found = list(breaches(ROOT))
    for line in found:
        print(line)
    print(f"imports: {len(found)} breach{'es' * (len(found) != 1)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
