#!/usr/bin/env python3
"""Run the situations of situations.py and say which of the facts in expected.json their headlines hold.

    python tests/headline/check.py                              all situations
    python tests/headline/check.py bin_rare_proba bin_mixed     some
    python tests/headline/check.py --ideal                      no run: do the ideal sentences hold their own expectations?
    python tests/headline/check.py --no-run                     judge the reports that are there
    python tests/headline/check.py --kind judged-on-leader      those whose fault is of a kind
    python tests/headline/check.py --evalreport PATH            another executable (default: that of the interpreter)
    python tests/headline/check.py --md situations.md           also write the list of situations with what was found

The headline is the first bold line of summary.md (of compare-runs: of its Markdown), and the same in results.json where
that holds one ("headline", or "decision": {"headline": ...}). Exit code 0: everything expected holds.

expected.json, for each situation:
  truth, ideal, verdict, why, kinds   for people: what is true, what should stand there, what was found with 969182b
  must, must_not       regular expressions (Python, ignoring case) that the HEADLINE must, or must not, hold
  line_must, line_must_not            the same of headline and sub-line (the line below it) together
  should               a wish, reported and not counted: mostly the interval of the size
  titles_must, titles_must_not        the same of all section and figure titles of report.html, each title by itself
  settle_must_not      the same of the line "To decide"
  oneline_must_not     the same of the one-line summary
  exit                 the exit code of the last command
  tone                 the frames that are right for the headline in report.html: alarm, amber, quiet, "" (none)
"""

from __future__ import annotations

import argparse
import html
import json
import lzma
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TONES = {"bad": "alarm", "undecided": "amber", "good": "quiet", "neutral": ""}
DEFAULT = str(Path(sys.executable).with_name("evalreport"))


def run(d: Path, executable: str) -> None:
    """Run the commands of a situation, and keep what the last one printed and its exit code."""
    commands = json.loads((d / "commands.json").read_text())
    for old in ("audits.db", "ran.json"):
        (d / old).unlink(missing_ok=True)
    codes, began = [], time.time()
    out = err = ""
    environment = {**os.environ, "COLUMNS": "160", "SOURCE_DATE_EPOCH": "1740794400", "NO_COLOR": "1"}
    for command in commands:
        done = subprocess.run(
            ["nice", executable, *command[1:]],
            cwd=d,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        codes.append(done.returncode)
        out, err = done.stdout, done.stderr
    ran = {"codes": codes, "stdout": out, "stderr": err, "seconds": round(time.time() - began, 1)}
    (d / "ran.json").write_text(json.dumps(ran, indent=1))


def plain(text: str) -> str:
    """Take marks of Markdown and entities off a line."""
    text = re.sub(r"\\([\\|*_@\[\]`~$#:.()])", r"\1", html.unescape(text))
    return re.sub(r"\s+", " ", text.replace("\u00a0", " ").replace("\u202f", " ")).strip()


def _words(markup: str) -> str:
    return plain(re.sub(r"<[^>]+>", " ", markup))


def seen(d: Path) -> dict[str, Any]:
    """Read what a situation's report says first."""
    ran = json.loads((d / "ran.json").read_text())
    found: dict[str, Any] = {
        "exit": ran["codes"][-1], "codes": ran["codes"], "headline": "", "about": "", "titles": [], "tone": None,
        "settle": "", "oneline": "", "gates": [], "cautions": [], "h1": "", "stderr": ran["stderr"], "json": None,
    }  # fmt: skip
    changes = d / "out/changes.md"
    source = changes if changes.exists() else d / "out/summary.md"
    if not source.exists():
        return found
    lines = source.read_text().splitlines()
    bold = next((i for i, line in enumerate(lines) if re.fullmatch(r"\*\*.*\*\*", line.strip())), None)
    if bold is not None:
        found["headline"] = plain(lines[bold].strip()[2:-2])
        found["about"] = next((plain(line) for line in lines[bold + 1 :] if line.strip()), "")
        found["cautions"] = []
        for line in lines[bold + 1 :]:
            if line.startswith(("|", "**", "<details", "###")):
                break
            if line.startswith("- ") and not line.startswith("- **"):
                found["cautions"].append(plain(line[2:]))
    if changes.exists():
        found["oneline"] = ""
        found["gates"] = [plain(line) for line in lines if line.lower().startswith(("| gate", "gate"))]
        return found
    for line in lines:
        if line.startswith("    [evalreport"):
            found["oneline"] = line.strip()
        if line.startswith("**To decide"):
            found["settle"] = plain(line.replace("**", ""))
        if re.match(r"- \*\*(pass|fail|undecided)\*\*", line):
            found["gates"].append(plain(line[2:].replace("**", "")))
    page = (d / "out/report.html").read_text() if (d / "out/report.html").exists() else ""
    frame = re.search(r'<div class="state([^"]*)">\s*<h1 id="decision-title">(.*?)</h1>', page, re.S)
    if frame:
        found["tone"], found["h1"] = frame[1].strip().removeprefix("state-"), _words(frame[2])
    body = page[page.find("<h1") :]
    found["titles"] = [
        t for m in re.finditer(r"<h([23])[^>]*>(.*?)</h\1>", body, re.S) if (t := _words(m[2]))
    ]
    results = json.loads((d / "out/results.json").read_text()) if (d / "out/results.json").exists() else {}
    held = results.get("headline") or (results.get("decision") or {}).get("headline")
    found["json"] = held.get("text") if isinstance(held, dict) else held
    if isinstance(held, dict) and held.get("tone") in TONES:
        shown, found["tone"] = found["tone"], TONES[held["tone"]]
        found["other_tone"] = shown if shown is not None and shown != found["tone"] else None
    found["primary"] = results.get("primary_metric")
    return found


def faults(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Say what does not hold."""
    headline, both = found["headline"], f"{found['headline']} {found['about']}"
    said = []
    if not headline:
        said.append("no headline")

    def look(key: str, text: str, *, want: bool) -> None:
        for pattern in expected.get(key, []):
            if bool(re.search(pattern, text, re.I)) != want:
                said.append(f"{key}: {pattern}")

    look("must", headline, want=True)
    look("must_not", headline, want=False)
    look("line_must", both, want=True)
    look("line_must_not", both, want=False)
    look("settle_must_not", found["settle"], want=False)
    look("oneline_must_not", found["oneline"], want=False)
    for pattern in expected.get("titles_must", []):
        if not any(re.search(pattern, title, re.I) for title in found["titles"]):
            said.append(f"titles_must: {pattern}")
    for pattern in expected.get("titles_must_not", []):
        said += [
            f"titles_must_not: {pattern} ({title})"
            for title in found["titles"]
            if re.search(pattern, title, re.I)
        ]
    if "exit" in expected and found["exit"] != expected["exit"]:
        said.append(f"exit: {found['exit']} instead of {expected['exit']}")
    if "tone" in expected and found["tone"] is not None and found["tone"] not in expected["tone"]:
        said.append(
            f"tone: {found['tone'] or 'none'!r} instead of {' or '.join(t or 'none' for t in expected['tone'])}"
        )
    if found.get("other_tone") is not None:
        said.append(f"report.html has another tone: {found['other_tone'] or 'none'!r}")
    if found["json"] is not None and plain(found["json"]) != headline:
        said.append("results.json has another headline")
    if found["h1"] and found["h1"] != headline:
        said.append(f"report.html has another headline: {found['h1']}")
    return said


def wishes(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Say which wishes do not hold."""
    return [p for p in expected.get("should", []) if not re.search(p, found["headline"], re.I)]


PARTS = {
    "headline": ("no headline", "must", "line_must"),
    "state": ("exit", "tone", "oneline"),
    "below": ("titles", "settle"),
}


def ideal(expected: dict[str, Any]) -> dict[str, Any]:
    """Give a report that says what is ideal."""
    return {
        "headline": expected["ideal"], "about": "", "titles": [], "tone": None,
        "settle": "", "oneline": "", "exit": expected.get("exit"), "json": None, "h1": "",
    }  # fmt: skip


def markdown(expected: dict[str, Any], found: dict[str, dict[str, Any]]) -> str:
    """Write what is true, what the report says, and what of it does not hold, situation by situation."""
    wrong = {name: faults(expected[name], own) for name, own in found.items()}
    held = sum(not said for said in wrong.values())
    lines = [
        "# Situations whose truth is known, and what the report says first", "",
        "Written by `make test-headline`; the sentences are verbatim. Exit: of the last command. Frame: the colour of the",
        "headline in report.html.", "",
        f"**{held} of {len(found)} situations hold** all that is expected of headline, sub-line, titles, colour and exit code.",
        "",
    ]  # fmt: skip
    colours = {"quiet": "green", "alarm": "red", "": "none", None: "none"}
    for name, own in found.items():
        lines += [f"## {name}", "", f"True: {expected[name]['truth']}", "", f"> **{own['headline']}**"]
        lines += [">", f"> {own['about']}"] if own["about"] else []
        lines += [">", f"> {own['settle']}"] if own["settle"] else []
        lines += ["", f"Frame: {colours.get(own['tone'], own['tone'])}; exit: {own['exit']}.", ""]
        if own["oneline"]:
            lines += [f"`{own['oneline']}`", ""]
        lines += [f"- Does not hold: {text}" for text in wrong[name]] + [""] * bool(wrong[name])
    return "\n".join(lines)


NOT_READ = (
    "average_ranks", "curve_summaries", "curves", "decomposition", "disagreements", "dominance", "environment",
    "evidence", "learning_curve", "omnibus", "operating_points", "residuals", "score_histograms", "variance",
)  # fmt: skip
"""Parts of results.json that no headline is made from."""


def stored(where: Path, names: list[str]) -> bytes:
    """Return the last run of each situation as JSON, without the parts that no headline is made from."""
    kept = {}
    for name in names:
        place = where / name / "out" / "results.json"
        if place.exists() and not (where / name / "out" / "changes.md").exists():
            content = json.loads(place.read_text())
            empty = {part: type(content[part])() for part in NOT_READ if part in content}
            rows = [row for row in content["comparisons"] if row["recommended"]]
            kept[name] = content | empty | {"comparisons": rows}
    return json.dumps(kept, sort_keys=True, separators=(",", ":")).encode()


def main() -> int:
    """Run, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--evalreport", default=DEFAULT)
    parser.add_argument("-s", "--situations", default=str(HERE.parents[1] / ".cache" / "situations"))
    parser.add_argument("--expected", default=str(HERE / "expected.json"))
    parser.add_argument("--kind")
    parser.add_argument("--no-run", action="store_true")
    parser.add_argument("--missing", action="store_true", help="run only what has not been run")
    parser.add_argument("--ideal", action="store_true")
    parser.add_argument("--md")
    parser.add_argument("--store", help="also write the records that the headlines are made from, compressed")
    parser.add_argument("-q", "--quiet", action="store_true", help="only the counts")
    given = parser.parse_args()
    expected = json.loads(Path(given.expected).read_text()) if Path(given.expected).exists() else {}
    where = Path(given.situations)
    names = given.names or [n for n in (expected or sorted(p.name for p in where.iterdir()))]
    if given.kind:
        names = [n for n in names if given.kind in expected[n].get("kinds", [])]
    bad, found, kinds = 0, {}, dict.fromkeys(PARTS, 0)
    for name in names:
        d, one = where / name, expected.get(name, {})
        if given.ideal:
            own, one = ideal(one), {key: value for key, value in one.items() if key != "titles_must"}
        else:
            if not (d / "commands.json").exists():
                subprocess.run(
                    [sys.executable, str(HERE / "situations.py"), "-o", str(where), name], check=True
                )
            if not given.no_run and not (given.missing and (d / "ran.json").exists()):
                run(d, given.evalreport)
            own = found[name] = seen(d)
        said = faults(one, own)
        if given.ideal:
            said += [f"should: {p}" for p in wishes(one, own)]
        bad += bool(said)
        for kind, begins in PARTS.items():
            kinds[kind] += any(text.startswith(begins) for text in said)
        if not given.quiet:
            print(f"{'FAULT' if said else 'holds'} {name}: {own['headline']}", flush=True)
            for text in said:
                print(f"        {text}")
            for wish in [] if given.ideal else wishes(one, own):
                print(f"        (wish: {wish})")
    if not given.ideal:
        print(
            f"headline: {kinds['headline']} at fault; colour, exit code or one-line summary: {kinds['state']}; titles or the line “To decide”: {kinds['below']}"
        )
        print(
            f"results.json holds the headline in {sum(f['json'] is not None for f in found.values())} of {len(found)} reports"
        )
    print(f"{len(names) - bad} of {len(names)} hold")
    if given.store:
        Path(given.store).write_bytes(lzma.compress(stored(where, names), preset=9))
    if given.md:
        Path(given.md).write_text(markdown(expected, found))
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
