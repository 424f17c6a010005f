"""The lazy tables: where each command and each service of an extension is defined, and the rooms of the questions.

The core never imports an extension. It finds one here, by name, when it is asked for; so it does the files of a room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

COMMANDS: Mapping[str, str] = {
    "demo": "evalreport.cli.demo:demo_command",
    "run": "evalreport.cli.run:run_command",
    "check": "evalreport.cli.run:check_command",
    "render": "evalreport.cli.render:render_command",
    "aggregate": "evalreport.scale.commands:aggregate_command",
    "declare": "evalreport.looks.commands:declare_command",
    "plan": "evalreport.cli.preparation:plan_command",
    "resample": "evalreport.refit.commands:resample_command",
    "audit": "evalreport.audit.commands:audit_command",
    "history": "evalreport.history.commands:history_command",
    "comment": "evalreport.reviews.commands:comment_command",
    "verify": "evalreport.verify.commands:verify_command",
    "compare-runs": "evalreport.verify.commands:compare_runs_command",
    "import": "evalreport.imports.commands:import_command",
    "list": "evalreport.cli.preparation:list_command",
    "schema": "evalreport.cli.preparation:schema_command",
    "init": "evalreport.cli.preparation:init_command",
    "templates": "evalreport.cli.preparation:templates_command",
}
"""Name of a command: ``module:attribute``, in the order of the help."""

SERVICES: Mapping[str, str] = {
    "audited again": "evalreport.audit.auditing:audited_again",
    "page of audits": "evalreport.audit.site:write_site",
    "counts of a source": "evalreport.scale.aggregates:counts_instead",
    "options of an aggregate": "evalreport.scale.aggregates:under_manifest",
    "engine elsewhere": "evalreport.scale.engines:elsewhere",
    "aggregate below": "evalreport.scale.aggregates:aggregate_below",
    "looks of a run": "evalreport.looks.series:session_of",
    "options with criteria": "evalreport.looks.criteria:with_criteria",
    "criteria of a run": "evalreport.looks.criteria:followed",
    "digest of criteria": "evalreport.looks.criteria:digest_of",
    "criteria of results": "evalreport.looks.criteria:followed_again",
    "look of results": "evalreport.looks.series:recorded_look",
    "aggregated again": "evalreport.scale.aggregates:aggregated_again",
}
"""What one package asks of an extension that it does not import: ``module:attribute``."""


def load(name: str) -> Any:
    """Import a command or a service.

    Parameters
    ----------
    name
        A key of ``COMMANDS`` or of ``SERVICES``.

    Examples
    --------
    >>> load("check").name
    'check'
    """
    module, _, attribute = (COMMANDS.get(name) or SERVICES[name]).partition(":")
    return getattr(import_module(module), attribute)


ROOMS = (
    *("thresholds", "calibration", "baselines", "ranks", "algorithms", "judges", "attempts", "slices"),
    *("coverage", "costs", "looks", "estimand", "fragility"),
)
"""The questions of a run, each a folder of ``questions``, in the order in which they are answered."""


@cache
def files_of_rooms(name: str) -> tuple[ModuleType, ...]:
    """Import the file of this name of every room that has one, in order.

    Examples
    --------
    >>> [module.__name__ for module in files_of_rooms("options")][:1]
    ['evalreport.questions.thresholds.options']
    """
    there = (room for room in ROOMS if find_spec(f"evalreport.questions.{room}.{name}") is not None)
    return tuple(file_of_room(room, name) for room in there)


def file_of_room(room: str, name: str) -> ModuleType:
    """Import one file of a room."""
    return import_module(f"evalreport.questions.{room}.{name}")


@dataclass(frozen=True, slots=True)
class InRoom:
    """A function of a file of a room; the file is imported when it is called."""

    room: str
    file: str = "section"
    function: str = "describe"

    def __call__(self, *arguments: object) -> Any:
        """Call the function."""
        return getattr(file_of_room(self.room, self.file), self.function)(*arguments)
