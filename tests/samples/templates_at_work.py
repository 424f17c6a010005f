"""What a templates' process is told to make: by templates without end, and by steps that go wrong behind them.

A module of its own: the process imports it, and should not import what tests need besides.
"""

from __future__ import annotations

import os
from pathlib import Path

from evalreport.report import template_process

ATTACKS = {
    "padded": ("{{ '%100000000000d' % 1 }}", "need more than 2 GiB of memory"),
    "long": ("{% set x = [0] * 10 ** 10 %}", "need more than 2 GiB of memory"),
    "recursion": (
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "RecursionError: maximum recursion depth",
    ),
    "harmless": ("made", ""),
}
"""Templates, and the error of each; tests/report/test_template_process.py has a loop without end in a whole report."""


def attacks(folder: Path) -> template_process.Documents:
    """Return the documents of these templates."""
    from evalreport.report.templates import environment, rendered

    env = environment(folder)
    return {name: (lambda name=name: rendered(env, name, {}), str.encode) for name in ATTACKS}


def too_much(*_arguments: object) -> template_process.Documents:
    """Return ways to documents that go wrong behind the templates."""
    return {
        "large": (lambda: b"x" * (template_process.LARGEST + 1), bytes),
        "killed": (lambda: os.kill(os.getpid(), 9), bytes),
        "wrong": (lambda: 1 / 0, bytes),
        "printing": (lambda: print("no reply"), lambda _printed: b"made"),  # noqa: T201
        "steps": (lambda: 20, lambda made: b"%d" % (made + 1)),
    }
