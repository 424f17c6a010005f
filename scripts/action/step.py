"""The steps of the GitHub action: ``run`` evalreport, then ``comment`` on the pull request.

Neither fails for what it finds: ``run`` hands the exit code on as an output, which the action ends with, so that
artefacts and comment are there also when a gate failed; a comment that cannot be written is a warning beside the gate's
result.
"""

from __future__ import annotations

import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

LONGEST_SUMMARY = 1_000_000
"""Bytes; the host refuses a job's summary above 1 MiB."""
LAST_LINES = 30
BAD_USAGE = 2


def run() -> int:
    """Run evalreport with the action's inputs; write the outputs and the job's summary."""
    models = [line.strip() for line in os.environ["INPUT_MODELS"].splitlines() if line.strip()]
    output = (os.environ.get("INPUT_OUTPUT", "").split("\n")[0]).strip() or "evalreport-out"
    history = os.environ.get("INPUT_HISTORY", "").strip()
    command = ["audit", "--history", history] if history else ["run"]
    if looks := os.environ.get("INPUT_LOOKS", "").strip():
        folder = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir(), "evalreport-looks")
        command += ["--looks", looks, "--pushes", "--looks-file", str(folder / "looks.json")]
    junit = ["--junit", f"{output}/gates.xml"]
    summary = Path(output) / "summary.md"
    before = _stamp(summary)
    try:
        options = shlex.split(os.environ.get("INPUT_OPTIONS", ""))
    except ValueError as error:
        code, said = BAD_USAGE, f"the input options: {error}"
    else:
        code, said = _evalreport([*command, *junit, *options, "-o", output, "--", *models])
    # An older report in the same folder is not this run's.
    made = _stamp(summary) not in (None, before)
    _append("GITHUB_OUTPUT", f"exit-code={code}\nreport={output if made else ''}\n")
    if made:
        _append("GITHUB_STEP_SUMMARY", summary.read_text(encoding="utf-8")[: LONGEST_SUMMARY // 4] + "\n")
    else:
        place = _keep(said)
        _append("GITHUB_OUTPUT", f"error-file={place}\n")
        _append(
            "GITHUB_STEP_SUMMARY", f"**evalreport made no report** (exit code {code})\n\n{_block(said)}\n"
        )
    return 0


def comment() -> int:
    """Write the comment; a failure is an annotation of the run and nothing else."""
    report, error_file = os.environ.get("REPORT", ""), os.environ.get("ERROR_FILE", "")
    job = (os.environ.get(name, "") for name in ("GITHUB_WORKFLOW", "GITHUB_JOB", "INPUT_NAME"))
    words = ["comment", *([report] if report else []), "--key", "/".join(job)]
    if not report:
        said = Path(error_file).read_text(encoding="utf-8") if error_file else ""
        words += ["--failed", said or "no output"]
    else:
        words += _base()
    if os.environ.get("INPUT_PULL_REQUEST"):
        words += ["--number", os.environ["INPUT_PULL_REQUEST"]]
    if os.environ.get("ARTIFACT_URL"):
        words += ["--link", f"report (HTML, PDF)={os.environ['ARTIFACT_URL']}"]
    code, said = _evalreport(words)
    if code:
        last = (said.strip().splitlines() or ["no reason was given"])[-1]
        print(f"::warning title=evalreport::no comment was written: {_data(last)}")
    return 0


def _base() -> list[str]:
    """Return the options that compare with the base branch; where its results are not there, a warning says so."""
    base, before = (os.environ.get(name, "").strip() for name in ("INPUT_BASE", "INPUT_BASE_MODELS"))
    if not base:
        return []
    if not Path(base).exists():
        print(f"::warning title=evalreport::no results of the base branch: {_data(base)} is not there")
        return []
    now = os.environ.get("INPUT_MODELS", "").strip().splitlines()
    # Pair by pair only where both are folders: a list of files has no paths to match.
    return ["--base", base, *(["--inputs", before, now[0].strip()] if before and len(now) == 1 else [])]


def _evalreport(words: list[str]) -> tuple[int, str]:
    """Run the program; show what it says, in which nothing is taken for a command of the runner."""
    done = subprocess.run(
        [sys.executable, "-m", "evalreport", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}\n{done.stdout.rstrip()}\n::{token}::", flush=True)
    return done.returncode, done.stdout


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return what tells one writing of a file from the next; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _append(variable: str, text: str) -> None:
    place = os.environ.get(variable)
    if place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(text)


def _keep(text: str) -> str:
    folder = os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()
    path = Path(folder) / f"evalreport-{secrets.token_hex(8)}.txt"
    path.write_text("\n".join(text.splitlines()[-LAST_LINES:]), encoding="utf-8")
    return str(path)


def _block(text: str) -> str:
    """Write a text as a block of code that it cannot end."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-LAST_LINES:])


def _data(text: str) -> str:
    """Escape a text as the data of one command of the runner."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    sys.exit({"run": run, "comment": comment}[sys.argv[1]]())
