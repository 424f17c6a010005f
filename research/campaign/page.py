"""docs/reliability.md, from what the parts of the campaign recorded."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from research.campaign import disks, forging, fuzz, kills, names, restarts, streams, writers
from research.campaign.records import Part

WIDTH = 120
TITLES = {
    "kills-disk": "Killed, on a disk",
    "kills-memory": "Killed, in memory",
    "disks": "Disks and folders",
    "writers": "Several at once, clocks set back",
    "restarts": "A server that is restarted",
    "names": "Hostile names",
    "fuzz": "Wrong input",
    "damage": "Damaged aggregates and histories",
    "streams": "Closed streams, hosts that never end",
    "forging": "Forged evidence",
}
FAULTS = {
    "kills-disk": kills.FAULTS,
    "kills-memory": kills.FAULTS,
    "disks": disks.FAULTS,
    "writers": writers.FAULTS,
    "restarts": restarts.FAULTS,
    "names": names.FAULTS,
    "fuzz": fuzz.FAULTS,
    "damage": fuzz.FAULTS,
    "streams": streams.FAULTS,
    "forging": forging.FAULTS,
}
"""Outcomes that must never be; what each means stands at the top of the part's file."""
ABOUT = {
    "kills-disk": "Kills before each step on the file system in turn, and at random moments, of commands that write"
    " over an earlier run's files. *Old*, *new*: whose files stood there at once. *Partial*: some files of one run"
    " and none of the other, until the next command ends the move. *Writing*: the step alone in which finished files"
    " are moved in.",
    "kills-memory": "The same on a tmpfs, where other moments are hit.",
    "disks": "`run`, `audit` and `resample`, with and without files of the user's in the folder. *Gone*: the"
    " folder was removed after the files had been written.",
    "writers": "Started at the same moment, on other predictions each. With clocks that jump, mostly back, the history"
    " must say the same of the same runs as with clocks that go forward: runs follow as they were recorded.",
    "restarts": "PostgreSQL is stopped, as by a power cut, and started again while a run of 2 MB is"
    " recorded. *Refused*: the message said that the run is not in the history, and the next try recorded it once.",
    "names": "HTML, SVG, Markdown, spreadsheet formulas, templates, overrides of direction and escape sequences as"
    " names of models, classes, columns, values, files, series and titles. *Silent*: with every control of the page"
    " used, no script of theirs ran, nothing stood in the console, and nothing but the file was asked for.",
    "fuzz": "Prediction files, configurations, options, gates, plans, imports, results and answers of review servers,"
    " made by a grammar and changed byte by byte; those that are cheap are tried more often. *Exit n*: how a try"
    " ended; 2 is one line that says what is wrong.",
    "damage": "Edits of every file of an aggregate and of every table of a history: bytes, cells, rows, columns and"
    " JSON, with the digests made anew. *Accepted*: a run on files that contradict one another.",
    "forging": "One random edit of results.json (a value, a record that is gone, twice, in another place or new;"
    " sometimes another version is claimed as well), of a page or another document, of a looks file or of criteria."
    " *Found*: `verify` ended with 1 or 2, or the next run was refused. *Named*: the versions of libraries, which"
    " nothing can compute again, were printed. *Missed*: anything else that changed what the evidence says.",
    "streams": "Commands whose standard output or error is closed, full or a pipe that nobody reads, and a"
    " review's host that sends bytes for ever. *Done*: the report is there, the run is recorded, and the exit code is"
    " the one that is promised; a host was left at the deadline.",
}
PROMISES = (
    "**Files of two runs never stand together.** A killed `run`, `audit` or `resample` leaves the old files or the new"
    " ones. Where a folder holds nothing but our files, it is exchanged in one step.",
    "**Files of the user's are never touched**, whatever stands in the output folder.",
    "**A history loses no run and holds no half one**, whoever is killed, however many write, when the"
    " server restarts, and when the clock is wrong. A run is recorded once.",
    "**A full or read-only disk is said** (exit 2 or 4), and the files that were there are unchanged.",
    "**A closed stream stops no work**: what standard output does not take is exit 4, and standard error changes no"
    " exit code.",
    "**Files that contradict one another are refused**: the counts, histograms and sums of an aggregate. Of a damaged"
    " history the rest is shown, and what cannot be read is named.",
    "**An interrupted command says what is true**: what it says was written stands there, and the rest does not.",
    "**Wrong input ends with words**: exit code 2 and one line, or 4; no traceback, no endless wait, no secret.",
    "**Names are text**, in every output: they run nothing, ask for nothing and change no mark-up.",
    "**Templates cannot change records**: results.json and the history are bytes made before a template runs.",
)
LIMITS = (
    "Where files of others stand in the folder, ours are moved in one by one. After a kill in that moment some may be"
    " missing until the next command; there is no mixture.",
    "A process that stands in the old folder, or holds it open, keeps the old one. One that reads file after"
    " file while a run moves in may read of both.",
    "On a file system without locks two runs into the same folder are not kept apart.",
    "A gates.xml of an earlier run stays where the next one is asked for none (no `--junit`).",
    "A kill between report and record leaves that run out of the history; the next audit of the same predictions"
    " records it.",
    "The process that renders a user's templates has the user's rights. The sandbox limits what templates reach, their"
    " time and their memory; it is no other user and no container.",
    "A plan with estimators runs the code that it names ([SECURITY.md](../SECURITY.md)).",
    "Kills are of the process. What a power cut leaves is up to the disk and to PostgreSQL; files are flushed before"
    " they are moved in, folders are not.",
    "Linux is what is attacked here. On macOS and Windows there is no exchange of folders: files are moved one by"
    " one, so that a reader may for a moment see files of two runs. Windows limits neither memory nor processor time"
    " of templates, macOS not their memory. A run there says so.",
)
KNOWN = {
    "defect: IndexError in layout.py:parts_by": "Mended after this run; the same try now ends with 0.",
    "defect: KeyError in verify.py:_comparable": "Mended after this run; the same try now ends with 1.",
    "defect: UnicodeDecodeError in connection.py:_on_connect": "Mended after this run; the same try now ends with 2.",
}
"""What is known of the findings that the record holds."""
FOUND = (
    (
        "`--weight` with a column that tells fits apart ended as a defect.",
        "test_a_column_that_tells_fits_apart_is_no_weight",
    ),
    (
        "Folds that leave nothing to train on let numpy's warning of a division by zero reach the user.",
        "test_folds_that_leave_nothing_to_train_on_have_no_ratio",
    ),
    (
        "A `.jsonl.gz` whose check sum was wrong was read without a word.",
        "test_an_archive_whose_check_sum_is_wrong_is_refused",
    ),
    (
        "Interrupted while it took its lock, a run left the empty lock file and said that nothing was written.",
        "test_an_interrupt_while_the_lock_is_taken_leaves_no_lock",
    ),
    (
        "A key column without any value in an Arrow file ended as a defect.",
        "test_a_key_column_without_any_value_divides_nothing",
    ),
    (
        "`verify` on a results.json without the list of warnings ended as a defect.",
        "test_a_file_without_warnings_is_compared",
    ),
    (
        "A damaged footer of a Parquet file ended the process: pyarrow raises what nothing can catch.",
        "test_damaged_metadata_of_a_parquet_file_end_no_process",
    ),
    (
        "A number of 300 digits in evalreport.toml ended as a defect.",
        "test_a_number_too_large_to_be_kept_is_refused",
    ),
    (
        "A Parquet file with text that is not UTF-8 ended as a defect.",
        "test_text_of_a_parquet_file_that_is_no_utf8_is_refused",
    ),
    (
        "A column `value` beside `--value` ended as a defect.",
        "test_a_displaced_standard_column_is_like_any_other",
    ),
    (
        "A plan that names a file of 5,000 letters ended as a defect.",
        "test_a_path_that_the_system_refuses_is_no_file",
    ),
    ("A plan of 10^18 replicates never began to fit.", "test_a_bad_scheme_or_estimator_is_named"),
    (
        "numpy's warning of a division by zero reached the user where a fold has no example.",
        "test_a_weighted_average_over_folds_without_examples_is_undefined_and_not_warned_of",
    ),
    (
        "A CSV whose header holds a line break was called empty where its rows end otherwise.",
        "test_a_header_may_hold_a_line_break_of_any_kind",
    ),
    (
        "Characters without a width came to the terminal as they are: two names could look alike.",
        "test_what_cannot_be_seen_is_written_as_its_code_point",
    ),
    (
        "An interrupted audit said nothing of the run; interrupted after `--junit` alone, that nothing was written.",
        "test_an_interrupt_while_recording_says_what_may_be_there",
    ),
    (
        "`run` took the predictions of a half-moved `resample` for all of them.",
        "test_predictions_that_a_killed_resample_left_half_moved_are_read_whole",
    ),
)
"""What was found in the making of this page, and the test that keeps it away."""


def page(parts: Mapping[str, Part]) -> str:
    """Write the page as Markdown."""
    return "\n".join([*_head(parts), *_counts(parts), *_end()]) + "\n"


def _head(parts: Mapping[str, Part]) -> Iterator[str]:
    tries = sum(part.tries for part in parts.values())
    killed = sum(row.counts["killed"] for part in parts.values() for row in part.rows)
    findings = sum(len(part.findings) for part in parts.values())
    hours = sum(part.seconds for part in parts.values()) / 3600
    yield "# What is promised when things go wrong, and how that is tested"
    yield ""
    yield _wrapped(
        f"`make campaign` attacks the program in the ways below and writes this page from what it recorded in"
        f" [reliability.json](reliability.json): {tries:,} tries, among them {killed:,} kills, in {hours:.1f}"
        f" hours, with {_counted(findings, 'finding')} left. A finding is a broken promise; it is mended,"
        " becomes a test, and the part runs again from its seed. Short forms run with `make test-system`."
    )
    yield ""
    yield "## Promised"
    yield ""
    yield from map(_point, PROMISES)
    yield ""
    yield "## Not promised"
    yield ""
    yield from map(_point, LIMITS)
    yield ""


def _counts(parts: Mapping[str, Part]) -> Iterator[str]:
    yield "## Tried"
    for name, title in TITLES.items():
        if name not in parts:
            continue
        part = parts[name]
        yield from ("", f"### {title}", "", _wrapped(f"{ABOUT[name]} {_facts(part)}"), "")
        yield from _table(part)
        none = ", ".join(f"{fault} {sum(row.counts[fault] for row in part.rows)}" for fault in FAULTS[name])
        yield from ("", _wrapped(f"As none may end: {none}."))
        for finding in part.findings:
            yield from ("", _point(f"**Finding:** {finding}. {KNOWN.get(finding, '')}").rstrip())


def _facts(part: Part) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in part.versions.items())
    stopped = "" if _done(part) >= part.asked else f" Stopped before all {part.asked:,} that were asked for."
    spent = f", {part.processor:,.0f} s of the processor" if part.processor else ""
    return f"Seed {part.seed}; {part.seconds:,.0f} s{spent}; {versions}.{stopped}"


def _done(part: Part) -> int:
    """Return how many of the tries that were asked for were made: for kills only those that hit."""
    if part.name.startswith("kills"):
        return sum(row.counts["killed"] for row in part.rows)
    return part.tries if part.name != "names" else part.rows[0].tries


def _table(part: Part) -> Iterator[str]:
    faults = FAULTS[part.name]
    heads = list(
        dict.fromkeys(head for row in part.rows for head in sorted(row.counts) if head not in faults)
    )
    order = ["killed", "old", "new", "partial"]
    heads.sort(key=lambda head: (order.index(head) if head in order else len(order), head))
    yield f"| | tries | {' | '.join(heads)} |"
    yield f"|:--|{'--:|' * (1 + len(heads))}"
    for row in part.rows:
        cells = [f"{row.counts[head]:,}" if row.counts[head] else "" for head in heads]
        yield f"| {row.what} | {row.tries:,} | {' | '.join(cells)} |"
    if len(part.rows) > 1:
        totals = [f"{sum(row.counts[head] for row in part.rows):,}" for head in heads]
        yield f"| all | {part.tries:,} | {' | '.join(totals)} |"


def _end() -> Iterator[str]:
    yield from ("", "## Found and mended", "")
    yield _wrapped("While this page was made; each has a test that fails without the change.")
    yield ""
    for said, test in FOUND:
        yield _point(f"{said} `{test}`")
    yield from ("", "## Again", "")
    yield _wrapped(
        "`make campaign` runs all of it (hours; PostgreSQL and Chromium where they are installed, as root also the"
        " small disk), and `make campaign PART=fuzz SEED=7` one part; the same seed gives the same tries of the"
        " fuzzer. Moments of kills differ from run to run."
    )


def _counted(count: int, what: str) -> str:
    return f"{count if count else 'no'} {what}{'' if count == 1 else 's'}"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _point(text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
