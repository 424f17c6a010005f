"""`evalreport init` and `evalreport templates copy`: start a project, overwrite nothing."""

from __future__ import annotations

from pathlib import Path

from evalreport.cli.preparation import starter


def test_init_writes_the_commented_configuration(run):
    """Into the current folder, or one that is named and made; standard output says where."""
    assert run("init").out == "evalreport.toml\n"
    assert Path("evalreport.toml").read_text(encoding="utf-8") == starter()
    assert run("init", "new/project").code == 0
    assert Path("new/project/evalreport.toml").is_file()


def test_init_never_overwrites(run):
    """A file that is there stays as it is, and so does a file where the folder should be."""
    Path("evalreport.toml").write_text("mine")
    outcome = run("init")
    assert outcome.code == 2
    assert (
        outcome.err
        == "evalreport: evalreport.toml: already exists and was left as it is; name another folder\n"
    )
    assert Path("evalreport.toml").read_text() == "mine"
    for folder in ("evalreport.toml", "evalreport.toml/below"):
        assert run("init", folder).code == 2


def test_a_started_project_runs(run, fakes):
    """The configuration that init writes is taken as it is, and sets nothing."""
    from evalreport.options import Options

    run("init")
    assert run("run", "models").code == 0
    assert fakes.calls[0]["options"] == Options()


def test_templates_are_copied_and_those_there_are_kept(run):
    """The same files as `list templates` names."""
    names = run("list", "templates").out.split()
    assert "base.html.j2" in names
    Path("mine").mkdir()
    Path("mine/base.html.j2").write_text("edited")
    outcome = run("templates", "copy", "mine")
    assert outcome.code == 0
    assert outcome.out == f"mine: {len(names) - 1} files copied, 1 kept as they were\n"
    assert Path("mine/base.html.j2").read_text() == "edited"
    assert sorted(p.relative_to("mine").as_posix() for p in Path("mine").rglob("*") if p.is_file()) == sorted(
        names
    )


def test_templates_need_a_folder(run):
    """A file in the way is one message."""
    Path("taken").write_text("mine")
    outcome = run("templates", "copy", "taken")
    assert outcome.code == 2
    assert outcome.err.startswith("evalreport: taken: cannot be written")
