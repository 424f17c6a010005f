"""Attack the program in every way, and write down what came of it: docs/reliability.json, the tables of its page."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from research.campaign import disks, forging, fuzz, kills, names, page, records, restarts, streams, writers
from research.campaign.records import Part

PARTS: dict[str, Callable[..., Part]] = {
    "kills-disk": kills.on_disk,
    "kills-memory": kills.in_memory,
    "disks": disks.part,
    "writers": writers.part,
    "restarts": restarts.part,
    "names": names.part,
    "fuzz": fuzz.part,
    "damage": fuzz.damaged,
    "streams": streams.part,
    "forging": forging.part,
}


def main() -> int:
    """Run the parts, one after the other, and record each as soon as it is done; 1 where something was found.

    Ctrl-C (or SIGTERM) ends the fuzzer, or the kills: what was done is recorded.
    """
    parser = argparse.ArgumentParser(prog="python -m research.campaign", description=__doc__)
    parser.add_argument("--part", action="append", choices=list(PARTS), help="repeatable; default: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, help="default: those of each part")
    parser.add_argument("--record", type=Path, default=records.RECORD)
    parser.add_argument("--page-only", action="store_true", help="the page from the record that is there")
    given = parser.parse_args()
    # What is started in the background is deaf to Ctrl-C.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    chosen = [] if given.page_only else given.part or list(PARTS)
    findings: list[str] = []
    for name in chosen:
        tries = {} if given.tries is None else {"tries": given.tries}
        part = PARTS[name](seed=given.seed, **tries)
        records.write(part, given.record)
        findings += part.findings
        print(
            f"{name}: {part.tries:,} tries, {len(part.findings)} findings, {part.seconds:.0f} s", flush=True
        )
    if given.record == records.RECORD:
        text = page.filled(page.PAGE.read_text(encoding="utf-8"), records.read())
        page.PAGE.write_text(text, encoding="utf-8")
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
