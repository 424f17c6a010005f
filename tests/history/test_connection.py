"""Every older version of the tables comes to the present one, with what it held."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url, text

from evalreport.errors import HistoryError
from evalreport.history import connection as present
from evalreport.history.connection import MIGRATION_LOCK, History, _engine, open_history, writing
from evalreport.history.store import append, runs, standing
from research.campaign.histories import new_run


def made(history: History, version: int) -> None:
    """Make the tables in an empty database, as if a version had."""
    with writing(history, lock=MIGRATION_LOCK) as connection:
        present.migrate(connection)
        connection.execute(present.schema().schema.update().values(version=version))


def noted(connection) -> None:
    """A step to a version whose log of accepted runs has one column more."""
    connection.execute(text("ALTER TABLE evalreport_acceptances ADD COLUMN by TEXT DEFAULT '' NOT NULL"))


def bare(path: Path) -> History:
    """A database without any tables."""
    return History(_engine(make_url(f"sqlite:///{path}")), f"sqlite:///{path}", path)


def shape(history: History) -> dict[str, object]:
    """The tables with their columns and indexes, as the database tells them."""
    with history.engine.connect() as connection:
        told = inspect(connection)
        return {
            name: (
                sorted(
                    (c["name"], str(c["type"]), c["nullable"], c["primary_key"])
                    for c in told.get_columns(name)
                ),
                sorted(str(i["column_names"]) for i in told.get_indexes(name)),
                sorted(str(u["column_names"]) for u in told.get_unique_constraints(name)),
            )
            for name in sorted(told.get_table_names())
            if name.startswith("evalreport_")
        }


def test_a_new_history_has_the_declared_tables(tmp_path):
    """All of them, and no others."""
    fresh = open_history(f"sqlite:///{tmp_path / 'fresh.db'}", create=True)
    assert set(shape(fresh)) == set(present.schema().metadata.tables)


def test_an_older_version_comes_to_the_present_one_with_what_it_held(tmp_path, monkeypatch):
    """The next version has one step: runs and acceptances stay, the column is there, and it happens once."""
    history = open_history(f"sqlite:///{tmp_path / 'audits.db'}", create=True)
    append(history, new_run(1, series="a"), after=None)
    monkeypatch.setattr(present, "VERSION", present.VERSION + 1)
    monkeypatch.setattr(present, "STEPS", (noted,))
    for _ in range(2):
        again = open_history(history.name)
        assert standing(again, "a").accepted == (1,)
        assert [run.id for run in runs(again)] == [1]
        assert "by" in [column[0] for column in shape(again)["evalreport_acceptances"][0]]


def test_a_step_that_fails_leaves_the_old_tables(tmp_path, monkeypatch):
    """Tables are changed in a transaction, too: the next version of evalreport finds this one, whole."""
    old = open_history(f"sqlite:///{tmp_path / 'audits.db'}", create=True)
    before = shape(old)

    def fails(connection):
        noted(connection)
        raise RuntimeError("in the middle")

    monkeypatch.setattr(present, "VERSION", present.VERSION + 1)
    monkeypatch.setattr(present, "STEPS", (fails,))
    with pytest.raises(RuntimeError, match="in the middle"):
        open_history(old.name)
    assert shape(old) == before


def test_tables_from_before_the_first_release_are_not_touched(tmp_path):
    """They are refused in one line that says what to do."""
    history = bare(tmp_path / "audits.db")
    made(history, present.FIRST - 1)
    with pytest.raises(HistoryError, match="before the first release.*another database"):
        open_history(history.name)


def test_tables_of_a_newer_version_are_not_touched(tmp_path):
    """Exit with what to do, instead of guessing what the new columns mean."""
    url = f"sqlite:///{tmp_path / 'audits.db'}"
    history = open_history(url, create=True)
    with writing(history, lock=1) as connection:
        connection.execute(present.schema().schema.update().values(version=present.VERSION + 1))
    with pytest.raises(HistoryError, match="newer evalreport"):
        open_history(url)


def test_there_is_one_step_a_version():
    """Whoever raises the version writes the step."""
    assert len(present.STEPS) == present.VERSION - present.FIRST
