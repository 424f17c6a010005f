"""Every older version of the tables comes to the present one, with what it held."""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path

import pytest
from sqlalchemy import inspect, make_url

from evalreport.audit.run_values import kept_value
from evalreport.errors import HistoryError
from evalreport.history import connection as migrations
from evalreport.history import connection as present
from evalreport.history.connection import MIGRATION_LOCK, History, _engine, open_history, writing
from evalreport.history.store import accept, acceptances, append, runs, standing
from evalreport.metrics.registry import Quantity
from research.campaign.histories import new_run


def made_at(history: History, version: int) -> None:
    """Make the tables of an older version in an empty database, as that version did."""
    with writing(history, lock=MIGRATION_LOCK) as connection:
        for step in migrations.STEPS[:version]:
            step(connection)
        table = present.schema().schema
        connection.execute(table.delete())
        connection.execute(table.insert().values(version=version))


def filled_at_1(history: History) -> None:
    """Record two series in tables of version 1, with run 2 accepted in one of them."""
    made_at(history, 1)
    _, pins = migrations.version_1()
    runs_table = present.schema().runs
    with writing(history, lock=1) as connection:
        for number, series in ((1, "a"), (2, "a"), (3, "b")):
            connection.execute(
                runs_table.insert().values(
                    id=number, series=series, identity=f"{number:064x}", signature="s", time=f"2025-01-0{number}",
                    exit_code=0, summary="{}", results=b"r", results_sha256="d",
                )
            )  # fmt: skip
        connection.execute(pins.insert(), [{"series": "a", "run_id": 2}, {"series": "b", "run_id": 3}])


def filled_at_2(history: History) -> None:
    """Record three runs in tables of version 2, of which two kept condensed losses; run 1 is accepted."""
    made_at(history, 2)
    metadata, _ = migrations.version_1()
    acceptances_then = present.acceptances_table(metadata)
    records = [{"model": "forest", "value": 0.75}, {"model": "tree", "value": None}]
    results = zlib.compress(json.dumps({"evidence": records}).encode())
    losses = {"look": 1, "ids": ["0a"], "models": {"forest": ["accuracy", [0.0, 1.0], [15.0, 5.0]]}}
    summaries = ({"n": 20}, {"n": 20, "evidence": losses}, {"n": 20, "evidence": {}})
    with writing(history, lock=1) as connection:
        for number, summary in enumerate(summaries, 1):
            connection.execute(
                present.schema().runs.insert().values(
                    id=number, series="a", identity=f"{number:064x}", signature="s", time=f"2025-01-0{number}",
                    exit_code=0, accepted_run=1 if number > 1 else None, summary=json.dumps(summary),
                    results=results, results_sha256="d",
                )
            )  # fmt: skip
        pin = acceptances_then.insert().values(series="a", run_id=1, time="2025-01-01", note="first")
        connection.execute(pin)


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


def test_every_version_comes_to_the_tables_that_a_new_history_has(tmp_path):
    """From nothing and from version 1: the same tables, columns, constraints and indexes."""
    fresh = open_history(f"sqlite:///{tmp_path / 'fresh.db'}", create=True)
    declared = set(present.schema().metadata.tables)
    assert set(shape(fresh)) == declared
    for version in range(1, present.VERSION):
        history = bare(tmp_path / f"{version}.db")
        made_at(history, version)
        again = open_history(history.name)
        assert shape(again) == shape(fresh)


def test_what_version_1_held_is_there_afterwards(tmp_path):
    """Runs stay; the pins become the first lines of the log of acceptances, at the time of their runs."""
    path = tmp_path / "audits.db"
    filled_at_1(bare(path))
    history = open_history(f"sqlite:///{path}")
    assert [(run.id, run.series) for run in runs(history)] == [(1, "a"), (2, "a"), (3, "b")]
    assert standing(history, "a").accepted == (2,)
    assert [(p.series, p.run_id, p.time) for p in acceptances(history)] == [
        ("a", 2, "2025-01-02"),
        ("b", 3, "2025-01-03"),
    ]
    run, added = append(history, new_run(9, series="a"), after=2)
    assert (run.id, added) == (4, True)


def test_what_version_2_kept_of_nights_is_kept_as_their_values(tmp_path):
    """5 of 20 wrong: accuracy 0.75 of 20 examples, with the standard error sqrt(0.75 0.25 / 20); the pin stays."""
    path = tmp_path / "audits.db"
    filled_at_2(bare(path))
    history = open_history(f"sqlite:///{path}")
    kept = [run.summary.get("evidence") for run in runs(history)]
    expected = ["accuracy", 0.75, pytest.approx(math.sqrt(0.75 * 0.25 / 20), rel=1e-12), 20]
    assert kept == [None, {"look": 1, "ids": ["0a"], "models": {"forest": expected}}, {}]
    assert standing(history, "a").accepted == (1,)
    night = kept_value(runs(history)[1], "forest", Quantity("accuracy"))
    assert night is not None
    assert (night.value, night.n) == (0.75, 20)
    accept(history, 1, 2, time="2025-01-09")
    assert standing(history, "a").accepted == (1, 2)


def test_a_step_that_fails_leaves_the_old_tables(tmp_path, monkeypatch):
    """Tables are changed in a transaction, too: the next version of evalreport finds version 1, whole."""
    path = tmp_path / "audits.db"
    old = bare(path)
    filled_at_1(old)
    before = shape(old)

    def fails(connection):
        migrations.to_version_2(connection)
        raise RuntimeError("in the middle")

    monkeypatch.setattr(migrations, "STEPS", (migrations.to_version_1, fails, migrations.to_version_3))
    with pytest.raises(RuntimeError, match="in the middle"):
        open_history(f"sqlite:///{path}")
    assert shape(old) == before
    monkeypatch.undo()
    assert standing(open_history(f"sqlite:///{path}"), "a").accepted == (2,)


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
    assert len(migrations.STEPS) == present.VERSION
