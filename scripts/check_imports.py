"""Check the layout: imports run one way and in no circle, heavy libraries wait, files and functions stay short.

Run without arguments from anywhere; prints one line for each breach and exits 1 if there is any.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "evalreport"
ROOT = Path(__file__).resolve().parent.parent

# The layers, the lowest first: what stands in one may import what stands in a lower one, and its own package.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("version", "numbers", "keywords"),
    ("texts",),
    ("errors",),
    ("files", "registry"),
    ("records", "conditions"),
    ("frames",),
    ("config", "results"),
    ("data",),
    ("engine",),
    ("metrics",),
    ("intervals",),
    ("algorithms",),
    ("comparisons",),
    ("assembly",),
    ("slices",),
    ("stages",),
    ("pipeline",),
    ("plots",),
    ("report",),
    ("audit", "refit", "imports"),
    ("cli",),
)
LAYER = {name: level for level, names in enumerate(LAYERS) for name in names}
# Drawing and describing use results alone: they never see predictions or compute.
USES_RESULTS_ALONE = frozenset({"plots", "report"})
BASE = frozenset(
    {
        "version",
        "numbers",
        "keywords",
        "errors",
        "files",
        "registry",
        "texts",
        "records",
        "frames",
        "conditions",
        "config",
        "results",
    }
)
ALLOWED_FOR_RESULTS_ALONE = BASE | USES_RESULTS_ALONE
# What is bound when the package is imported must not pull in what `--help` does not need.
LIGHT = BASE | {"", "cli"}
HEAVY = frozenset(
    {
        "dask", "distributed", "duckdb", "jinja2", "joblib", "matplotlib", "narwhals", "numpy", "pandas",
        "polars", "psycopg", "pyarrow", "pypdf", "rich", "scipy", "sklearn", "sqlalchemy", "statsmodels", "weasyprint",
    }
)  # fmt: skip
# Slow to import and needed by few commands: inside functions only, everywhere.
LAZY_EVERYWHERE = frozenset(
    {
        "dask",
        "distributed",
        "joblib",
        "matplotlib",
        "pandas",
        "polars",
        "psycopg",
        "sklearn",
        "sqlalchemy",
        "statsmodels",
    }
) | {"weasyprint"}
LAZY_EXCEPT_IN = {"matplotlib": frozenset({"plots"})}
PACKAGE_OF_TEMPLATES = "report"
BANNED_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
MAX_FILE_LINES = 600
MAX_TEST_FILE_LINES = 500  # many small claims about one thing are still one story
MAX_FUNCTION_LINES = 60


@dataclass(frozen=True, slots=True)
class Import:
    """One import of one module: its full name, its line, whether it runs when the module is loaded."""

    module: str
    line: int
    eager: bool


def breaches(root: Path) -> Iterator[str]:
    """Yield one line for each breach in the package below ``root`` and in its scripts and tests."""
    package = root / PACKAGE
    modules = sorted(package.rglob("*.py"))
    known = {_dotted(path, root) for path in modules}
    trees = {path: ast.parse(path.read_text(encoding="utf-8"), filename=str(path)) for path in modules}
    yield from _circles(
        {
            _dotted(path, root): {found.module for found in imports_of(tree, known)} & known
            for path, tree in trees.items()
        }
    )
    for path, tree in trees.items():
        where = path.relative_to(root)
        for problem in _import_breaches(path.relative_to(package), tree, known):
            yield f"{where}:{problem}"
    for folder in (package, root / "scripts", root / "tests"):
        longest = MAX_TEST_FILE_LINES if folder.name == "tests" else MAX_FILE_LINES
        for path in sorted(folder.rglob("*.py")):
            for problem in _shape_breaches(path, longest):
                yield f"{path.relative_to(root)}:{problem}"


def _circles(graph: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield a line for each module from which imports, also those inside functions, lead back to itself."""
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


def part_of(relative: Path) -> str:
    """Return the part of the package that a file belongs to; the package's own ``__init__`` is ''.

    Examples
    --------
    >>> part_of(Path("metrics/labels.py")), part_of(Path("errors.py")), part_of(Path("__init__.py"))
    ('metrics', 'errors', '')
    """
    name = relative.parts[0]
    return "" if name == "__init__.py" else name.removesuffix(".py")


def _dotted(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def _import_breaches(relative: Path, tree: ast.Module, known: set[str]) -> Iterator[str]:
    part = part_of(relative)
    if part not in LAYER and part not in {"", "__main__"}:
        yield f"1: {part!r} stands in no layer; add it to LAYERS in scripts/check_imports.py"
        return
    for found in imports_of(tree, known):
        parts = found.module.split(".")
        if parts[0] == PACKAGE:
            problem = _direction(part, parts[1] if len(parts) > 1 else "", found)
        else:
            problem = _library(part, parts[0], found)
        if problem:
            yield f"{found.line}: {problem}"


def _direction(part: str, target: str, found: Import) -> str | None:
    if part in {"", "__main__"}:
        if found.eager and target not in LIGHT:
            return f"the package itself imports {found.module} eagerly; import it when it is first used"
        return None
    if target == "" or target not in LAYER:
        return None  # the version; what is in no layer is reported where they are defined
    if part in USES_RESULTS_ALONE and target not in ALLOWED_FOR_RESULTS_ALONE:
        return f"{part} uses results alone but imports {found.module}"
    if target != part and LAYER[target] >= LAYER[part]:
        return f"{part} imports {found.module}, which stands in a higher layer or in the same"
    if part in LIGHT and found.eager and target not in LIGHT:
        return f"{part} imports {found.module} eagerly; `--help` would load it"
    return None


def _library(part: str, library: str, found: Import) -> str | None:
    if library == "jinja2" and part != PACKAGE_OF_TEMPLATES:
        return f"{part or 'the package itself'} imports jinja2; only {PACKAGE_OF_TEMPLATES}/ writes documents"
    if not found.eager:
        return None
    if part in LIGHT and library in HEAVY:
        return f"{part or 'the package itself'} imports {library} eagerly; `--help` would load it"
    if library in LAZY_EVERYWHERE and part not in LAZY_EXCEPT_IN.get(library, frozenset()):
        return f"{part} imports {library} at the top of the file; few commands need it, so import it inside"
    return None


def imports_of(tree: ast.Module, known: set[str]) -> Iterator[Import]:
    """Yield the imports of one module, those for type checkers alone left out."""
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, eager = pending.pop()
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, eager) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from _from_imports(node, eager, known)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend((child, eager) for child in node.orelse)
            continue
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        pending.extend((child, eager and not inside) for child in ast.iter_child_nodes(node))


def _from_imports(node: ast.ImportFrom, eager: bool, known: set[str]) -> Iterator[Import]:
    if node.level:
        # A relative import cannot be read by eye across packages; the package spells names in full.
        yield Import(f"{PACKAGE}.<relative>", node.lineno, eager)
        return
    base = node.module or ""
    for alias in node.names:
        full = f"{base}.{alias.name}"
        yield Import(full if full in known else base, node.lineno, eager)


def _shape_breaches(path: Path, longest: int) -> Iterator[str]:
    if path.stem in BANNED_NAMES:
        yield f"1: a module called {path.stem} says nothing; name it after what is in it"
    source = path.read_text(encoding="utf-8")
    n_lines = len(source.splitlines())
    if n_lines > longest:
        yield f"1: {n_lines} lines; a file tells one story in at most {longest}"
    for node in ast.walk(ast.parse(source, filename=str(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = _length(node)
            if length > MAX_FUNCTION_LINES:
                yield f"{node.lineno}: {node.name}() has {length} lines; at most {MAX_FUNCTION_LINES}"


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines, its docstring aside."""
    end = node.end_lineno or node.lineno
    length = end - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def main() -> int:
    """Print every breach; return the exit code."""
    found = list(breaches(ROOT))
    for line in found:
        print(line)
    print(f"layout: {len(found)} breach{'es' * (len(found) != 1)}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
