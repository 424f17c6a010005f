"""JUnit XML: each gate as a test case, for continuous integration."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from evalreport import numbers
from evalreport.errors import OutputError
from evalreport.files import write_whole
from evalreport.schema.decisions import GateRecord
from evalreport.schema.results import Results
from evalreport.texts.visible import visible

SUITE = "evalreport"


def junit_xml(results: Results) -> bytes:
    """Return the gates of a run as a JUnit document.

    A gate that failed is a ``failure``. An undecided one is an ``error`` of the type ``undecided``: it has no answer,
    and a server that skipped it would show a run in green whose exit code is 3.

    Returns
    -------
    bytes
        UTF-8, the same bytes for the same results: without time and host.
    """
    outcomes = [gate.outcome for gate in results.gates]
    totals = {
        "name": SUITE,
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("fail")),
        "errors": str(outcomes.count("undecided")),
        "time": "0",
    }
    root = ET.Element("testsuites", totals)
    suite = ET.SubElement(root, "testsuite", totals | {"name": f"{SUITE}.gates", "skipped": "0"})
    properties = ET.SubElement(suite, "properties")
    facts = {"signature": results.signature, "models": ", ".join(results.models), "n": str(results.n)}
    if results.headline is not None:
        facts["headline"] = str(results.headline.text)
    for name, value in facts.items():
        ET.SubElement(properties, "property", {"name": name, "value": visible(value)})
    for gate in results.gates:
        _add_case(suite, gate)
    ET.indent(root)
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def write_junit(results: Results, path: Path) -> None:
    """Write the document, whole or not at all; the folder is made where it does not exist.

    Raises
    ------
    OutputError
        It cannot be written.
    """
    try:
        write_whole(path, junit_xml(results))
    except OSError as error:
        raise OutputError(
            f"cannot write {path}: {error.strerror or error}; name another file with --junit"
        ) from error


def _add_case(suite: ET.Element, gate: GateRecord) -> None:
    case = ET.SubElement(
        suite, "testcase", {"name": visible(gate.gate), "classname": f"{SUITE}.gates", "time": "0"}
    )
    text = visible(gate.text)
    if gate.outcome == "pass":
        ET.SubElement(case, "system-out").text = text
        return
    kind = {"fail": "failure", "undecided": "error"}[gate.outcome]
    element = ET.SubElement(case, kind, {"type": gate.outcome, "message": text})
    element.text = f"{gate.outcome}: {text}"
    if gate.value is not None:
        limits = (
            "" if gate.low is None and gate.high is None else f" {numbers.interval(gate.low, gate.high, 4)}"
        )
        element.text += f"\nvalue: {numbers.number(gate.value, 4)}{limits}"
