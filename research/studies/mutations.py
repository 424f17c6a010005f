"""Measure what the tests catch: change one operator, number or condition at a time and see whether a test fails.

Run by ``make study-mutations``; writes docs/mutations.csv. The changes are those of cosmic-ray's operators, drawn at
random with a seed until the time is over. Each is made in a copy of the checkout and met by the files of tests that
reach its line, the fastest first. A change that no test notices gets a test, or an entry in
``research/studies/surviving_mutants.toml`` with the reason why it changes nothing that is promised.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import Visitor, ast_nodes, get_ast
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider

from research.studies import mutants, tables
from research.studies.mutants import Mutant, Verdict

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    *("metrics", "intervals", "comparisons", "samplings", "engine"),
    *("reference", "properties", "traps", "questions/slices", "questions/thresholds"),
)
"""Folders of tests that speak of the packages; the slow ones (pages, servers) say nothing of single operators."""

SECONDS_OF_TESTS = 120.0
"""A mutant meets covering files of tests that take this long together on the unchanged code, the fastest first."""

MOST_SECONDS = 240.0
"""After this time a mutant is taken to run forever, which is noticed too."""
MOST_SECONDS_TO_REACH = 7200
"""After this time the one run of all tests ends, also where nobody waits for it any more."""


ARITHMETIC = frozenset({"Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Pow_Mul", "FloorDiv_Mul", "Mod_Add"})
COMPARISONS = frozenset(
    {"Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Lt_GtE", "LtE_Gt", "Gt_LtE", "GtE_Lt", "Eq_NotEq", "NotEq_Eq"}
    | {"Is_IsNot", "IsNot_Is", "In_NotIn", "NotIn_In"}
)
"""Of cosmic-ray's replacements, those that a programmer might have written; the rest fails on any test at once."""


def is_plausible(operator: str) -> bool:
    """Say whether an operator of cosmic-ray makes a mistake that someone might make."""
    for prefix, kept in (("ReplaceBinaryOperator_", ARITHMETIC), ("ReplaceComparisonOperator_", COMPARISONS)):
        if operator.startswith(prefix):
            return operator.removeprefix(prefix) in kept
    return True


# --- mutants ----------------------------------------------------------------------------------------------------------


class _Mutation(Visitor):  # type: ignore[misc]
    """Change the given place of an operator, and no other."""

    def __init__(self, operator: Operator, occurrence: int) -> None:
        self._operator, self._left = operator, occurrence

    def visit(self, node: Any) -> Any:
        for place, _ in enumerate(self._operator.mutation_positions(node)):
            if self._left == 0:
                node = self._operator.mutate(node, place)
            self._left -= 1
        return node


def mutated(source: str, operator_name: str, occurrence: int) -> str:
    """Return a file's text with one place changed."""
    operator = OperatorProvider()[operator_name]()
    return str(_Mutation(operator, occurrence).walk(get_ast(source)).get_code())


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator of cosmic-ray applies: file, line, its text, and which of the operator's places it is."""

    file: str
    line: int
    operator: str
    occurrence: int
    before: str


def places_of(path: Path) -> Iterator[Place]:
    """Yield every place of a file that some operator would change."""
    source = path.read_text(encoding="utf-8")
    lines, tree = source.splitlines(), get_ast(source)
    for name in OperatorProvider():
        kind = OperatorProvider()[name]
        if kind.arguments() or not is_plausible(name):
            continue
        operator = kind()
        found = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, _) in enumerate(found):
            yield Place(str(path.relative_to(ROOT)), line, name, occurrence, lines[line - 1].strip())


def mutant_of(place: Place) -> Mutant | None:
    """Make the mutant of a place; None where it changes annotations or texts alone, or is no Python."""
    source = (ROOT / place.file).read_text(encoding="utf-8")
    text = mutated(source, place.operator, place.occurrence)
    try:
        if _code_only(text) == _code_only(source):
            return None
    except SyntaxError:
        return None
    pairs = zip(source.splitlines(), text.splitlines(), strict=False)
    after = next((new for old, new in pairs if old != new), "")
    return Mutant(place.file, place.line, place.operator, place.occurrence, place.before, after.strip())


def _code_only(source: str) -> str:
    """Return what is executed: annotations are texts here, and texts are for people."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):
            types = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            if types & {"Callable", "Literal", "Mapping", "Sequence", "tuple"}:
                node.value = ast.Constant(None)
    return ast.dump(tree)


# --- which tests reach which line -------------------------------------------------------------------------------------


class _Recorder:
    """A pytest plugin: which lines each test reaches, and how long it takes."""

    def __init__(self, coverage: Any) -> None:
        self.coverage, self.seconds = coverage, dict[str, float]()

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:  # noqa: ARG002
        self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests reach which line, and the seconds of each test."""

    by_line: Mapping[str, Mapping[int, list[str]]]
    seconds: Mapping[str, float]

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that a mutant meets; of a line run at import, those that reach its file.

        Whole files of tests: what one test of a file evaluates, others look at later, and only the first reaches it.
        """
        lines = self.by_line.get(mutant.file, {})
        found = [name for name in lines.get(mutant.line, []) if name]
        if not found and mutant.line in lines:
            found = [name for names in lines.values() for name in names if name]
        seconds: dict[str, float] = {}
        for name, taken in self.seconds.items():
            seconds[_file_of(name)] = seconds.get(_file_of(name), 0.0) + taken
        chosen: list[str] = []
        spent = 0.0
        for file in sorted(
            {_file_of(name) for name in found}, key=lambda file: (seconds.get(file, 1.0), file)
        ):
            spent += seconds.get(file, 1.0)
            if chosen and spent > SECONDS_OF_TESTS:
                break
            chosen.append(file)
        return chosen


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def measure_reach(copy: Path, packages: Sequence[str], known: Path | None) -> Reach:
    """Run the tests once in a copy of the checkout and record what each of them reaches, unless that is known."""
    out = known or copy / "reach.json"
    if known is None:
        if os.fork() == 0:
            code = 1
            signal.alarm(MOST_SECONDS_TO_REACH)
            try:
                code = _record(copy, packages, out)
            finally:
                os._exit(code)
        os.wait()
    if not out.exists():
        sys.exit("the tests could not be run on the unchanged code")
    found = json.loads(out.read_text(encoding="utf-8"))
    by_line = {
        file: {int(line): names for line, names in lines.items()} for file, lines in found["lines"].items()
    }
    return Reach(by_line, found["seconds"])


def _record(copy: Path, packages: Sequence[str], out: Path) -> int:
    import coverage
    import pytest

    os.chdir(copy)
    sys.path.insert(0, str(copy))
    measured = coverage.Coverage(data_file=None, source=[f"evalreport/{name}" for name in packages])
    recorder = _Recorder(measured)
    measured.start()
    code = pytest.main([*_OPTIONS, *(f"tests/{name}" for name in TESTS)], plugins=[recorder])
    measured.stop()
    data = measured.get_data()
    lines = {
        str(Path(file).relative_to(copy)): data.contexts_by_lineno(file) for file in data.measured_files()
    }
    out.write_text(json.dumps({"lines": lines, "seconds": recorder.seconds}), encoding="utf-8")
    return int(code)


_OPTIONS = ("-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no")


# --- meeting the tests ------------------------------------------------------------------------------------------------


def judge(copy: Path, mutant: Mutant, tests: Sequence[str]) -> Verdict:
    """Change one place in the copy, run the tests in a forked process, and restore the file."""
    if not tests:
        return Verdict(mutant, "uncovered", 0)
    path = copy / mutant.file
    source = path.read_text(encoding="utf-8")
    path.write_text(mutated(source, mutant.operator, mutant.occurrence), encoding="utf-8")
    try:
        return Verdict(mutant, _outcome(copy, tests), len(tests))
    finally:
        path.write_text(source, encoding="utf-8")


def _outcome(copy: Path, tests: Sequence[str]) -> str:
    child = os.fork()
    if child == 0:
        os.setsid()
        signal.alarm(2 * int(MOST_SECONDS))
        code = 1
        try:
            code = _run(copy, tests)
        finally:
            os._exit(code)
    deadline = time.monotonic() + MOST_SECONDS
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "survived" if status == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def _run(copy: Path, tests: Sequence[str]) -> int:
    import pytest

    os.chdir(copy)
    sys.path.insert(0, str(copy))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    return int(pytest.main([*_OPTIONS, "-x", *tests]))


def copied(folder: Path) -> Path:
    """Copy the tracked files of the checkout; nothing compiled is kept, so every process reads what stands there."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    copy = folder / "copy"
    copy.mkdir()
    subprocess.run(["tar", "-x"], cwd=copy, input=archive, check=True)
    return copy


def main() -> int:
    """Run the study; return 1 where a mutant survives that is not explained."""
    given = _arguments()
    files = [p for name in given.packages for p in sorted((ROOT / "evalreport" / name).rglob("*.py"))]
    drawn = [place for path in files for place in places_of(path)]
    random.Random(given.seed).shuffle(drawn)  # noqa: S311 - a sample of mutants, no secret
    print(f"{len(drawn)} places; tests are run once to see what they reach ...", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        copy = copied(Path(folder))
        reach = measure_reach(copy, given.packages, given.reach)
        given.record.parent.mkdir(parents=True, exist_ok=True)
        if given.reach is None:
            shutil.copy(copy / "reach.json", given.record.with_name("reach.json"))
        _preload()
        _check_unchanged(copy, reach)
        verdicts = list(_judged(copy, drawn, reach, minutes=given.minutes))
    given.record.write_text(
        json.dumps(
            [{**asdict(v.mutant), "outcome": v.outcome, "tests": v.tests} for v in verdicts], indent=1
        ),
        encoding="utf-8",
    )
    tables.write(
        given.output / "mutations.csv", mutants.rows(verdicts, len(drawn), given.seed, given.minutes)
    )
    tables.fill(given.output)
    open_ones = mutants.unexplained(verdicts)
    for verdict in open_ones:
        print(
            f"{verdict.mutant.file}:{verdict.mutant.line}: {verdict.mutant.before}  ->  {verdict.mutant.after}"
        )
    return 1 if open_ones else 0


def _judged(copy: Path, drawn: Sequence[Place], reach: Reach, *, minutes: float) -> Iterator[Verdict]:
    started = time.monotonic()
    for number, place in enumerate(drawn):
        elapsed = time.monotonic() - started
        if elapsed > 60 * minutes:
            return
        if number % 25 == 0:
            print(f"{number} of {len(drawn)} places, {elapsed / 60:.0f} min", file=sys.stderr, flush=True)
        mutant = mutant_of(place)
        if mutant is not None:
            yield judge(copy, mutant, reach.tests(mutant))


def _check_unchanged(copy: Path, reach: Reach) -> None:
    """Stop where the unchanged code fails: every mutant would seem to be caught."""
    several = sorted(reach.seconds, key=lambda name: (reach.seconds[name], name))[::40]
    if (outcome := _outcome(copy, several)) != "survived":
        sys.exit(f"{len(several)} tests on the unchanged code ended as if it were a mutant: {outcome}")


def _preload() -> None:
    """Import what every test needs once, so that a forked process begins at once; the package itself never."""
    for name in ("numpy", "pandas", "polars", "pytest", "scipy.special", "scipy.stats"):
        importlib.import_module(name)
    assert not any(name.split(".")[0] == "evalreport" for name in sys.modules), "would hide the mutants"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m research.studies.mutations", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="time for mutants, after the first run of the tests"
    )
    parser.add_argument("--seed", type=int, default=20269, help="order in which mutants are drawn")
    parser.add_argument("--packages", nargs="+", default=["metrics", "intervals", "comparisons"])
    parser.add_argument(
        "--reach", type=Path, help="what an earlier run on the same checkout found (.cache/reach.json)"
    )
    parser.add_argument(
        "--record", type=Path, default=ROOT / ".cache" / "mutations.json", help="all outcomes"
    )
    parser.add_argument("--output", type=Path, default=ROOT / "docs", help="folder to write to")
    return parser.parse_args()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.exit(main())
