"""Gates as JUnit XML: what each outcome becomes, hostile texts, and the option that writes it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.errors import OutputError
from evalreport.report.junit import junit_xml, write_junit
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from tests.samples.reviews import write

PASS = GateRecord(gate="n >= 500", outcome="pass", value=500.0, text="n is 500", low=None, high=None)
FAIL = GateRecord(
    gate="forest.accuracy >= 0.9",
    outcome="fail",
    value=0.8,
    low=0.75,
    high=0.84,
    text="0.80, wholly below 0.9",
)
UNDECIDED = GateRecord(
    gate="forest.f1 >= 0.8",
    outcome="undecided",
    value=0.81,
    low=0.77,
    high=0.85,
    text="not settled: 900 examples are needed",
)

# The attributes and children that the schema of Jenkins's xUnit plugin (junit-10.xsd) knows, by element.
ALLOWED = {
    "testsuites": ({"name", "tests", "failures", "errors", "time"}, {"testsuite"}),
    "testsuite": ({"name", "tests", "failures", "errors", "skipped", "time"}, {"properties", "testcase"}),
    "properties": (set(), {"property"}),
    "property": ({"name", "value"}, set()),
    "testcase": ({"name", "classname", "time"}, {"failure", "error", "system-out"}),
    "failure": ({"type", "message"}, set()),
    "error": ({"type", "message"}, set()),
    "system-out": (set(), set()),
}


def results(*gates: GateRecord, signature: str = "s", models: tuple[str, ...] = ("forest",)) -> Results:
    """Return results that say nothing but gates."""
    return Results(
        signature=signature, options={}, task="binary", design="test-set", n=500, classes=("0", "1"), positive="1",
        models=models, primary_metric="accuracy", inputs=(), gates=gates, baseline=None,
    )  # fmt: skip


def read(content: bytes) -> ET.Element:
    """Parse our own document."""
    return ET.fromstring(content)  # noqa: S314  written a line above


def test_each_gate_is_one_test_case_with_its_outcome():
    """A pass is bare, a failed gate is a failure, an undecided one an error; the totals count them."""
    root = read(junit_xml(results(PASS, FAIL, UNDECIDED)))
    suite = root[0]
    for element in (root, suite):
        assert [element.get(k) for k in ("tests", "failures", "errors")] == ["3", "1", "1"]
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert [child.tag for child in cases[PASS.gate]] == ["system-out"]
    assert [child.tag for child in cases[FAIL.gate]] == ["failure"]
    error = cases[UNDECIDED.gate].find("error")
    assert error is not None
    assert error.get("type") == "undecided"
    assert error.get("message") == UNDECIDED.text
    assert "[0.7700, 0.8500]" in (error.text or "")


def test_the_document_keeps_to_the_common_schema():
    """No element, attribute or nesting that the schema does not know; times are plain numbers."""
    for element in read(junit_xml(results(PASS, FAIL, UNDECIDED))).iter():
        attributes, children = ALLOWED[element.tag]
        assert set(element.attrib) <= attributes
        assert {child.tag for child in element} <= children
        assert element.get("time", "0") == "0"


@pytest.mark.parametrize(
    "name", ["<b>&\"'", "]]>", "a\x00b\x1b[31m", "\ud800", "\ufffe", "a\u202eb", "<!ENTITY x>", "x\ny"]
)
def test_hostile_names_stay_text(name):
    """Markup is escaped and what XML or a terminal cannot take is written as its code point."""
    gate = GateRecord(
        gate=f"{name}.accuracy >= 0.9", outcome="fail", text=f"{name} fell", value=None, low=None, high=None
    )
    content = junit_xml(results(gate, signature=name, models=(name,)))
    root = read(content)
    assert len(list(root.iter("testcase"))) == 1
    assert {element.tag for element in root.iter()} <= set(ALLOWED)
    assert not any(c in content.decode() for c in "\x00\x1b\ufffe\u202e")


def test_the_same_results_give_the_same_bytes():
    """Neither the time nor the machine stands in the document."""
    assert junit_xml(results(PASS, FAIL)) == junit_xml(results(PASS, FAIL))


def test_without_gates_the_suite_is_empty():
    """A run without gates is a suite of no tests, not a missing file."""
    assert read(junit_xml(results())).get("tests") == "0"


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path: Path):
    """A folder in the way is said with what to do."""
    (tmp_path / "gates.xml").mkdir()
    with pytest.raises(OutputError, match="name another file with --junit"):
        write_junit(results(PASS), tmp_path / "gates.xml")


RUN = ("-m", "accuracy", "--resamples", "50", "-q", "-f", "json")


def test_run_writes_the_gates_and_keeps_the_exit_code(tmp_path: Path, capsys):
    """A failed gate exits 1 and stands in the file; folders are made on the way."""
    models = write(tmp_path / "models", 60, 100)
    path = tmp_path / "ci" / "gates.xml"
    words = ["run", str(models), *RUN, "-o", str(tmp_path / "out"), "--gate", "forest.accuracy >= 0.9"]
    assert main([*words, "--junit", str(path)]) == 1
    assert read(path.read_bytes()).get("failures") == "1"
    assert "fail" in capsys.readouterr().err


def test_a_file_that_cannot_be_written_exits_4_unless_a_gate_failed(tmp_path: Path, capsys):
    """The report is written all the same, and a gate's exit code comes first."""
    models = write(tmp_path / "models", 60, 100)
    (tmp_path / "gates.xml").mkdir()
    words = ["run", str(models), *RUN, "-o", str(tmp_path / "out"), "--junit", str(tmp_path / "gates.xml")]
    assert main(words) == 4
    assert (tmp_path / "out" / "results.json").is_file()
    assert main([*words, "--gate", "forest.accuracy >= 0.9"]) == 1
    assert "name another file with --junit" in capsys.readouterr().err


def test_gates_in_the_report_s_folder_move_in_with_it(tmp_path: Path, monkeypatch):
    """They are files of the same run: where the report cannot be written they are not there either."""
    models, out = write(tmp_path / "models", 60, 100), tmp_path / "out"
    words = ["run", str(models), *RUN, "-o", str(out), "--junit", str(out / "gates.xml")]
    assert main(words) == 0
    assert {path.name for path in out.iterdir()} == {"gates.xml", "results.json"}
    before = (out / "gates.xml").read_bytes()

    def full(_stream: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert main([*words, "--gate", "n >= 50"]) == 4
    assert (out / "gates.xml").read_bytes() == before


def test_audit_writes_them_too(tmp_path: Path, capsys):
    """A scheduled run has the same option, and a passed gate about an earlier run is a passed test."""
    models, path = write(tmp_path / "models", 90, 100), tmp_path / "gates.xml"
    words = ["audit", str(models), *RUN, "-o", str(tmp_path / "out"), "--junit", str(path)]
    words += ["--history", f"sqlite:///{tmp_path / 'a.db'}", "--gate", "forest.accuracy >= accepted - 0.02"]
    assert main(words) == 0
    root = read(path.read_bytes())
    assert [root.get(k) for k in ("tests", "failures", "errors")] == ["1", "0", "0"]
    assert capsys.readouterr().err == ""
