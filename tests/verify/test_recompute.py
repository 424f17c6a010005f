"""`evalreport verify`: what was not touched agrees; one changed figure, input byte or option is found and named."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.version import __version__
from tests.samples.cases import every
from tests.samples.two_models import run, write


def tamper(path: Path, change) -> None:
    """Change the content of a results.json."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize("what", every(2, ["out", "out/results.json"]))
def test_what_was_not_touched_agrees(made, verify, what):
    """A folder and a results.json: every figure, exactly."""
    agrees(made, verify, what)


@pytest.mark.slow
def test_a_pdf_that_was_not_touched_agrees(printed, verify):
    """What is attached to it is verified, every figure, exactly."""
    agrees(printed, verify, "out/report.pdf")


def agrees(place: Path, verify, what: str) -> None:
    """Verify one thing of a folder."""
    code, said = verify(place / what, "--inputs", place / "models")
    assert (code, said.splitlines()[-1]) == (
        0,
        "AGREES: every figure follows from the recorded inputs and options",
    )
    assert "differ: 0" in said
    assert "but for rounding" not in said
    assert verify(place / what, "--inputs", place / "models", "-q") == (0, "")


def every_kind(content) -> list[tuple[str, list[dict], int, str]]:
    """One figure or word of each kind of record: the list, and the field."""
    fields = {
        "metrics": "value",
        "comparisons": "p_value",
        "curves": "band",
        "verdicts": "text",
        "gates": "outcome",
    }
    fields |= {
        "disparities": "difference",
        "confusion": "count",
        "ranking": "letters",
        "operating_points": "threshold",
    }
    fields |= {
        "warnings": "text",
        "dominance": "a",
        "inputs": "rows",
        "curve_summaries": "value",
        "effects": "value",
    }
    return [(name, field) for name, field in fields.items() if content[name]]


def test_one_changed_figure_of_any_kind_is_found_and_named(made, verify, tmp_path):
    """Metrics, tests, verdicts, gates, slices, curves: exit code 1, and the record stands in the output."""
    original = json.loads((made / "out/results.json").read_text(encoding="utf-8"))
    kinds = every_kind(original)
    assert {"metrics", "gates", "disparities", "curves", "verdicts"} <= {name for name, _ in kinds}
    content = json.loads(json.dumps(original))
    for name, field in kinds:
        row = content[name][0]
        row[field] = row[field] + 0.001 if isinstance(row[field], float) else row[field] + 1 if isinstance(
            row[field], int) else {"pass": "fail", "pointwise": None}.get(row[field], "logreg")  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    code, said = verify(path, "--inputs", made / "models", "-v")
    assert code == 1
    for name, _ in kinds:
        assert f"  {name}[" in said, name


def test_a_change_says_what_was_recorded_and_what_was_recomputed(copy, verify):
    """Both numbers, at the model, the metric and the interval that they belong to."""
    place = copy / "out/results.json"
    true = json.loads(place.read_text(encoding="utf-8"))["metrics"][0]
    tamper(place, lambda content: content["metrics"][0]["intervals"][0].update(low=0.987))
    code, said = verify(place, "--inputs", copy / "models")
    first = true["intervals"][0]
    named = f"metrics[forest accuracy].intervals[{first['method']}].low"
    assert (code, said.count("recomputed")) == (1, 1)
    assert f"  {named}: recorded 0.987, recomputed {json.dumps(first['low'])}" in said


def test_a_difference_in_the_last_digits_is_rounding(copy, verify):
    """1e-12 of a value agrees, and is counted; 1e-8 does not."""
    place = copy / "out/results.json"
    tamper(
        place,
        lambda content: content["metrics"][0].update(value=content["metrics"][0]["value"] * (1 + 1e-12)),
    )
    code, said = verify(place, "--inputs", copy / "models")
    assert code == 0
    assert "1 of them but for rounding in the last digits" in said
    tamper(
        place, lambda content: content["metrics"][0].update(value=content["metrics"][0]["value"] * (1 + 1e-8))
    )
    assert verify(place, "--inputs", copy / "models")[0] == 1


def test_one_changed_input_byte_is_said_with_what_follows_from_it(copy, verify):
    """The digest is not the recorded one; the figures that move are listed."""
    file = copy / "models/forest.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(
        text.replace("e0003,0", "e0003,1") if "e0003,0" in text else text.replace("e0003,1", "e0003,0")
    )
    other = copy / "models/logreg.csv"
    text = other.read_text(encoding="utf-8")
    other.write_text(
        text.replace("e0003,0", "e0003,1") if "e0003,0" in text else text.replace("e0003,1", "e0003,0")
    )
    code, said = verify(copy / "out/results.json", "--inputs", copy / "models", "-v")
    assert code == 1
    assert "input forest.csv: changed: recorded SHA-256" in said
    assert "metrics[forest accuracy].value: recorded" in said
    assert "2 inputs have changed since" in said


def test_a_changed_input_that_cannot_be_read_any_more_is_a_difference(copy, verify):
    """Nothing can be recomputed from it, and that is said."""
    (copy / "models/forest.csv").write_text("id,y_true,p_1\n", encoding="utf-8")
    code, said = verify(copy / "out/results.json", "--inputs", copy / "models")
    assert code == 1
    assert "not recomputed: every figure: a changed input cannot be analysed" in said


@pytest.mark.parametrize(
    ("option", "value"), every(4, [("confidence", 0.9), ("seed", 3), ("resamples", 60), ("positive", "0")])
)
def test_one_changed_option_is_a_difference(copy, verify, option, value):
    """What follows from the option that is claimed is not what is recorded."""
    place = copy / "out/results.json"
    tamper(place, lambda content: content["options"].update({option: value}))
    code, said = verify(place, "--inputs", copy / "models", "-v")
    assert code == 1
    assert "DIFFERS: what is recorded does not follow" in said


def test_a_record_that_was_removed_or_added_is_one_difference(copy, verify):
    """A warning that was taken out, a verdict that was put in."""
    place = copy / "out/results.json"

    def change(content):
        del content["warnings"][0]
        content["verdicts"].append({**content["verdicts"][0], "about": ["logreg", "forest"]})

    tamper(place, change)
    code, said = verify(place, "--inputs", copy / "models")
    assert code == 1
    assert "differ: 2" in said
    assert "verdicts[logreg, forest accuracy]: recorded, but not found again" in said
    assert ": found, but not recorded" in said


@pytest.mark.slow
def test_another_pdf_in_the_folder_is_found(printed, verify, tmp_path):
    """The report's attachment is not the results.json beside it."""
    copy = Path(shutil.copytree(printed, tmp_path / "copy"))
    tamper(copy / "out/results.json", dict)
    code, said = verify(copy / "out", "--inputs", copy / "models")
    assert code == 1
    assert "report.pdf of the same folder: its attachment results.json" in said


@pytest.mark.parametrize("names", [(), ("results.json", "results.json"), ("other.json",)])
def test_a_pdf_must_hold_one_results_json(made, verify, tmp_path, names):
    """None leaves nothing to verify; of two nobody could say which one is meant."""
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    for name in names:
        writer.add_attachment(name, (made / "out/results.json").read_bytes())
    writer.write(tmp_path / "report.pdf")
    code, said = verify(tmp_path / "report.pdf", "--inputs", made / "models")
    assert code == 2
    assert f"the PDF has {names.count('results.json')} attachments called results.json" in said


@pytest.mark.slow
def test_an_attachment_survives_that_another_tool_saved_the_pdf(printed, verify, tmp_path):
    """A PDF that was written anew, as by one that signs or compresses it."""
    import pikepdf

    with pikepdf.open(printed / "out/report.pdf") as document:
        document.save(
            tmp_path / "saved.pdf", object_stream_mode=pikepdf.ObjectStreamMode.generate, linearize=True
        )
    assert verify(tmp_path / "saved.pdf", "--inputs", printed / "models", "-q") == (0, "")


def test_paths_of_a_foreign_file_lead_nowhere(copy, verify):
    """A results.json that names files outside of the folder does not have them opened."""
    place = copy / "out/results.json"
    for path in ("../out/results.json", "/etc/passwd", "..\\x.csv", ""):
        tamper(place, lambda content, path=path: content["inputs"][0].update(path=path))
        code, said = verify(place, "--inputs", copy / "models")
        assert (code, "is not followed" in said) == (2, True), path


def claimed(version: str | None):
    """Claim that another version made the results; None: no version."""

    def change(content) -> None:
        if version is None:
            del content["environment"]["evalreport"]
        else:
            content["environment"]["evalreport"] = version
            content["signature"] = content["signature"].replace(__version__, version)

    return change


@pytest.mark.slow
def test_another_version_that_computes_the_same_agrees(copy, verify):
    """It is named; the versions in signature and environment must be one."""
    place = copy / "out/results.json"
    tamper(place, claimed("0.0.9"))
    code, said = verify(place, "--inputs", copy / "models")
    assert (code, f"made by other versions: evalreport 0.0.9 (here {__version__})" in said) == (0, True)
    tamper(place, lambda content: content["environment"].update(evalreport="0.0.8"))
    code, said = verify(place, "--inputs", copy / "models")
    assert (code, 'environment.evalreport: recorded "0.0.8", recomputed "0.0.9"' in said) == (1, True)


FORGERIES = {
    "a headline": lambda content: content["headline"].update(text="logreg is ahead"),
    "a gate that is gone": lambda content: content["gates"].pop(),
    "a model that is gone": lambda content: content["models"].pop(),
    "its metrics, too": lambda content: content.update(metrics=content["metrics"][:3]),
    "a sentence": lambda content: content["verdicts"][0].update(text="worded otherwise"),
    "a reason": lambda content: content["checks"][0].update(reason="nothing to look at"),
    "a warning that is gone": lambda content: content["warnings"].pop(),
    "a list that is gone": lambda content: content.pop("curve_summaries"),
    "one more verdict": lambda content: content["verdicts"].append(
        {**content["verdicts"][0], "about": ["logreg", "forest"]}
    ),
    "one more list": lambda content: content.update(approvals=[{"by": "nobody"}]),
    "the meaning of a sentence": lambda content: content["sentences"].popitem(),
    "no environment": lambda content: content.update(environment={}),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FORGERIES)
def test_whatever_version_is_claimed_everything_is_compared(what, copy, verify):
    """A record, a sentence or a state too many, too few or changed is exit 1, also quietly, and it is named."""
    place = copy / "out/results.json"

    version = "0.0.9" if what != "a gate that is gone" else None

    def forge(content) -> None:
        claimed(version)(content)
        FORGERIES[what](content)

    tamper(place, forge)
    code, said = verify(place, "--inputs", copy / "models", "-q")
    assert (code, "\nDIFFERS: " in said, "AGREES" in said) == (1, True, False)


@pytest.mark.slow
def test_files_that_were_not_read_are_compared(tmp_path, verify):
    """A warning about such a file that was taken out, or invented; a folder that says nothing of them is said."""
    write(tmp_path / "models")
    for name in ("fit.pkl", "notes.doc"):
        (tmp_path / "models" / name).write_text("x")
    run(tmp_path / "models", tmp_path / "out", "-m", "accuracy")
    place, inputs = tmp_path / "out/results.json", ("--inputs", tmp_path / "models")
    assert verify(place, *inputs, "-q") == (0, "")
    codes = [row["code"] for row in json.loads(place.read_text())["warnings"]]
    first = codes.index("ignored_file")
    tamper(place, lambda content: content["warnings"].pop(first))
    code, said = verify(place, *inputs)
    assert (code, "warnings[fit.pkl" in said) == (1, True)
    (tmp_path / "models/notes.doc").unlink()
    assert verify(place, *inputs)[0] == 1
    for name in ("forest.csv", "logreg.csv"):
        (tmp_path / "named").mkdir(exist_ok=True)
        shutil.copy(tmp_path / "models" / name, tmp_path / "named")
    run(tmp_path / "named", tmp_path / "other", "-m", "accuracy")
    (tmp_path / "named/notes.doc").write_text("x")
    code, said = verify(tmp_path / "other", "--inputs", tmp_path / "named")
    assert (code, "1 file beside the inputs that was not read (notes.doc)" in said) == (0, True)


def test_python_has_records_of_the_same(copy):
    """Outcome, inputs, versions, counts and differences."""
    place = copy / "out/results.json"
    tamper(place, lambda content: content["metrics"][0].update(value=0.5))
    found = er.verify(place, inputs=copy / "models")
    assert (found.outcome, len(found.differences)) == ("differs", 1)
    assert found.differences[0].recorded == 0.5
    assert [state.state for state in found.inputs] == ["unchanged", "unchanged"]
    assert found.agreeing["exact"] > 500
    recorded, here = found.versions["numpy"]
    assert recorded == here


@pytest.fixture(scope="module")
def series(tmp_path_factory) -> Path:
    """A folder with two audits of one series, the second worse; a third recorded and accepted since."""
    folder = tmp_path_factory.mktemp("series")
    url = f"sqlite:///{folder / 'audits.db'}"
    gates = ("--gate", "forest.accuracy >= accepted - 0.3", "--gate", "alarms <= 5", "--gate", "n >= 10")
    for name, lift in (("one", 0.2), ("two", 0.0), ("three", 0.1)):
        words = ["audit", str(write(folder / name, lift=lift)), "--history", url, "-m", "accuracy", *gates]
        main([*words, "--resamples", "50", "-f", "json", "-q", "-o", str(folder / f"{name}-out")])
    assert main(["history", "accept", "3", "--history", url]) == 0
    return folder


@pytest.fixture
def audited(series, tmp_path) -> Path:
    """A copy of it, to be tampered with."""
    return Path(shutil.copytree(series, tmp_path / "series"))


@pytest.mark.slow
def test_an_audit_is_verified_with_its_history(audited, verify):
    """What it said of earlier runs follows from those that stood in the history then, whatever was accepted since."""
    url = f"sqlite:///{audited / 'audits.db'}"
    for name in ("one", "two"):
        words = (audited / f"{name}-out", "--inputs", audited / name, "--history", url)
        code, said = verify(*words)
        assert (code, "differ: 0" in said, "not recomputed" in said) == (0, True, False), said
    place = audited / "two-out/results.json"
    content = json.loads(place.read_text(encoding="utf-8"))
    assert content["history"]
    assert content["audit"]
    tamper(place, lambda content: content["history"][0].update(reference_value=0.5))
    code, said = verify(place, "--inputs", audited / "two", "--history", url)
    assert code == 1
    assert "].reference_value: recorded 0.5, recomputed" in said


def test_an_audit_without_its_history_is_verified_in_part(audited, verify):
    """What was recomputed agrees, what is left is counted, and that is no success."""
    place = audited / "two-out/results.json"
    code, said = verify(place, "--inputs", audited / "two")
    assert code == 2
    assert "differ: 0" in said
    needs = r"2 of history, \d+ of changes, 2 of gates: name the history that recorded this audit with --history URL"
    assert re.search(rf"not recomputed: \d+ of audit, (\d+ of evidence, )?{needs}", said), said
    tamper(place, lambda content: content["metrics"][0].update(value=0.5))
    assert verify(place, "--inputs", audited / "two")[0] == 1


@pytest.mark.slow
def test_another_history_does_not_hold_the_run(audited, verify):
    """Another series: said, exit code 2."""
    url = f"sqlite:///{audited / 'audits.db'}"
    code, said = verify(audited / "two-out", "--inputs", audited / "two", "--history", url, "--series", "x")
    assert code == 2
    assert "holds no run with this signature and these options in the series 'x'" in said


@pytest.mark.slow
def test_every_list_that_only_an_audit_fills_is_known(audited):
    """A run of the same files leaves exactly those lists empty that the audit alone has; a gate is a finding, too."""
    from evalreport.verify.recompute import OF_AUDITS

    out = run(audited / "two", audited / "plain", "-m", "accuracy")
    plain = json.loads((out / "results.json").read_text(encoding="utf-8"))
    content = json.loads((audited / "two-out/results.json").read_text(encoding="utf-8"))
    alone = {name for name, value in content.items() if isinstance(value, list) and value and not plain[name]}
    assert alone - {"gates", "findings"} == {name for name in OF_AUDITS if content[name]}


def test_a_file_without_warnings_is_compared(copy, verify):
    """Whoever took the list of warnings out: it differs, in words."""
    tamper(copy / "out" / "results.json", lambda content: content.pop("warnings"))
    code, said = verify(copy / "out" / "results.json", "--inputs", copy / "models")
    assert code == 1
    assert "internal error" not in said


@pytest.mark.slow
def test_inputs_are_looked_for_in_the_current_folder(made, verify, monkeypatch):
    """By their recorded paths, without --inputs."""
    monkeypatch.chdir(made / "models")
    assert verify("../out")[0] == 0
