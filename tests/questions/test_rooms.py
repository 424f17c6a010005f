"""A room that is made is also asked, shown and declared: a forgotten step has a message that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.extensions import ROOMS, file_of_room
from evalreport.questions.question import QUESTIONS
from evalreport.report.sections import SECTIONS, InRoom
from scripts.write_reference import DECLARED, ROOMS_PATH, declared

FOLDER = Path(file_of_room(ROOMS[0], "compute").__file__).parents[1]


def test_every_folder_is_a_room():
    """One that ROOMS of extensions.py does not name is never asked: add its line there."""
    assert {path.name for path in FOLDER.iterdir() if (path / "__init__.py").exists()} == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_question_of_its_name(room):
    """compute.py has one function under `@question` with the name of the room."""
    file_of_room(room, "compute")
    assert room in QUESTIONS


@pytest.mark.parametrize("module", DECLARED)
def test_the_lists_and_options_of_all_rooms_are_declared(module):
    """The modules evalreport/questions/declared_*.py are what `make docs` writes."""
    assert (ROOMS_PATH / f"{module}.py").read_text(encoding="utf-8") == declared(module)


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/*section.py")), ids=lambda p: f"{p.parent.name}/{p.stem}"
)
def test_every_section_of_a_room_is_shown(path):
    """SECTIONS of report/sections/__init__.py names it, as `InRoom("ROOM")`."""
    assert InRoom(path.parent.name, path.stem) in [s.describe for s in SECTIONS]
