"""A user's template is a program: what it may reach, and how long and how large it may grow."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from evalreport.cli import main
from evalreport.errors import OutputError
from evalreport.history.connection import open_history
from evalreport.history.store import results_of, runs
from evalreport.options import OutputOptions
from evalreport.report import render, template_process
from evalreport.report.brand import TemplateError, brand_of
from evalreport.report.sections import describe
from evalreport.report.templates import environment, rendered, template_folder
from evalreport.report.translations import catalogue_of
from evalreport.report.view import view_of
from evalreport.schema.results import Results, to_json
from evalreport.texts import Message
from tests.samples.systems import needs_pipes
from tests.samples.templates_at_work import ATTACKS, attacks, too_much


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Give an empty folder of templates."""
    folder = tmp_path / "mine"
    folder.mkdir()
    return folder


def summary_by(template: str, results: Results, mine: Path, **options: object) -> str:
    """Give the summary.md that a template makes."""
    (mine / "summary.md.j2").write_text(template)
    given = OutputOptions(formats=("json", "md"), templates=mine, **options)
    render(results, mine.parent / "out", options=given)
    return (mine.parent / "out" / "summary.md").read_text()


# --- what it may reach ----------------------------------------------------------------------------------------------

CHANGES = [
    "view.results.options.update({'seed': 9})",
    "view.results.options.pop('seed')",
    "view.results.options.setdefault('seed', 9)",
    "view.results.environment.clear()",
    "(view.results.options | attr('update'))({'seed': 9})",
    "view.results.options['update']({'seed': 9})",
    "([view.results.options] | map(attribute='clear') | first)()",
    "view.results.options.metrics.append('x')",
    "view['results']['options'].clear()",
]


@pytest.mark.parametrize("change", CHANGES)
def test_no_expression_changes_what_a_template_is_shown(
    simulate: Callable[..., Results], mine: Path, change: str
) -> None:
    """Each way to change a mapping or a list of the results is an error, and they are as they were."""
    results = simulate()
    results.options["metrics"] = ["accuracy"]  # type: ignore[index]
    before = to_json(results)
    (mine / "attack.j2").write_text(f"{{{{ {change} }}}}")
    with pytest.raises(TemplateError):
        rendered(environment(mine), "attack.j2", {"view": view_of(results)})
    assert to_json(results) == before


@pytest.mark.parametrize(
    "attack", ["view.model('tree')", "view.results._repr_html_()", "figure.draw[0]", "figure.draw"]
)
def test_records_are_data_and_none_of_their_functions_is_there(
    simulate: Callable[..., Results], mine: Path, attack: str
) -> None:
    """A method of a record, or a function that it holds, cannot be called: it could do more than print."""
    view = view_of(simulate())
    figure = next(s.content.figures[0] for s in describe(view) if getattr(s.content, "figures", ()))
    (mine / "attack.j2").write_text(f"{{{{ {attack} }}}}")
    with pytest.raises(TemplateError, match="SecurityError"):
        rendered(environment(mine), "attack.j2", {"view": view, "figure": figure})


def test_all_that_a_template_is_given_is_plain_data(simulate: Callable[..., Results]) -> None:
    """Records of texts, numbers, tuples and mappings: no array, frame, path or file, whose methods could write."""
    plain = (str, int, float, bool, type(None))
    pending, seen = [view_of(simulate()), describe(view_of(simulate()))], set()
    while pending:
        value = pending.pop()
        if isinstance(value, plain) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            pending += [*value, *value.values()]
        elif isinstance(value, (tuple, list)):
            pending += value
        elif isinstance(value, Message):
            pending += value.params.values()
        else:
            assert dataclasses.is_dataclass(value), type(value)
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            pending += [v for v in fields.values() if not (isinstance(v, tuple) and v and callable(v[0]))]


@pytest.mark.slow
def test_the_history_records_what_results_json_says(tmp_path: Path) -> None:
    """An audit with templates that try to change seed and environment: both keep the bytes made before."""
    mine, models = tmp_path / "mine", tmp_path / "models"
    mine.mkdir()
    models.mkdir()
    (models / "forest.csv").write_text("y_true,y_pred\n" + "".join(f"{i % 2},{i % 2}\n" for i in range(40)))
    template = (
        "{% set x = view.results.options.update({'seed': 9}) %}{% set y = view.results.environment.clear() %}"
    )
    for name in ("base.html.j2", "summary.md.j2"):
        (mine / name).write_text(template)
    url = f"sqlite:///{tmp_path / 'audits.db'}"
    words = ["audit", str(models), "-o", str(tmp_path / "out"), "--history", url, "-m", "accuracy", "-q"]
    words += ["--resamples", "50", "-f", "html,json,md", "--templates", str(mine)]
    assert main(words) == 4
    said = (tmp_path / "out" / "results.json").read_bytes()
    history = open_history(url)
    assert [results_of(history, run.id) for run in runs(history)] == [said]
    assert json.loads(said)["options"]["seed"] == 0


@pytest.mark.usefixtures("templates_here")
@pytest.mark.parametrize("name", ["secret.j2", "sub/secret.j2"])
def test_a_link_out_of_the_folder_is_not_included(
    simulate: Callable[..., Results], mine: Path, name: str
) -> None:
    """A file, or a whole folder, that a link leads to from outside."""
    (mine.parent / "elsewhere").mkdir()
    (mine.parent / "elsewhere" / "secret.j2").write_text("secret words")
    if "/" in name:
        (mine / "sub").symlink_to(mine.parent / "elsewhere")
    else:
        (mine / name).symlink_to(mine.parent / "elsewhere" / name)
    with pytest.raises(OutputError, match="lies outside the folder of templates"):
        summary_by(f"{{% include '{name}' %}}", simulate(), mine)
    assert not (mine.parent / "out" / "summary.md").exists()


@pytest.mark.usefixtures("templates_here")
def test_a_link_within_the_folder_and_a_folder_that_is_a_link_are_fine(
    simulate: Callable[..., Results], mine: Path
) -> None:
    """Only what leads out is refused."""
    (mine / "real.j2").write_text("own words")
    (mine / "link.j2").symlink_to("real.j2")
    (mine.parent / "link").symlink_to(mine)
    assert summary_by("{% include 'link.j2' %}", simulate(), mine.parent / "link") == "own words"


@pytest.mark.parametrize("name", ["brand.toml", "texts.toml"])
def test_links_and_sizes_of_the_other_files_are_checked_as_well(mine: Path, name: str) -> None:
    """A link out of the folder, and a file that is too large to be what it says."""
    read = brand_of if name == "brand.toml" else catalogue_of
    (mine.parent / name).write_text("")
    (mine / name).symlink_to(mine.parent / name)
    with pytest.raises(TemplateError, match="lies outside the folder"):
        read(mine)
    (mine / name).unlink()
    (mine / name).write_text("#" * 1_000_001)
    with pytest.raises(TemplateError, match="more than 1,000,000 bytes"):
        read(mine)
    (mine / name).write_text(f"x = {'[' * 5000}{']' * 5000}")
    with pytest.raises(TemplateError, match=re.escape(name)):
        read(mine)


def test_a_text_that_would_be_said_for_every_row_has_a_length(mine: Path) -> None:
    """The length is measured by the shipped text: a translation fits, a megabyte does not."""
    (mine / "texts.toml").write_text(f"[table]\nmodel = {'x' * 300!r}")
    with pytest.raises(TemplateError, match="table.model has 300 characters; at most 220 fit"):
        catalogue_of(mine)


@needs_pipes
def test_a_pipe_is_no_logo(mine: Path) -> None:
    """Reading it would wait without end."""
    os.mkfifo(mine / "logo.svg")
    (mine / "brand.toml").write_text("logo = 'logo.svg'")
    with pytest.raises(TemplateError, match="is no file"):
        brand_of(mine)


# --- time and memory ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_memory_and_depth_have_an_end(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long texts, padded formats, recursion: each is an error of one line, and the next one is made."""
    for name, (template, _) in ATTACKS.items():
        (mine / name).write_text(template)
    monkeypatch.setattr(template_process, "SECONDS", 1)
    found = template_process.made_within_limits(attacks, (mine,), list(ATTACKS))
    assert found.pop("harmless") == b"made"
    for name, error in found.items():
        assert isinstance(error, TemplateError), name
        assert ATTACKS[name][1] in str(error)
        assert "\n" not in str(error)


@pytest.mark.slow
def test_one_endless_document_does_not_cost_the_others(
    simulate: Callable[..., Results], mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page runs into the limit; the summary is made by another process."""
    loops = "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}"
    (mine / "base.html.j2").write_text(loops)
    options = OutputOptions(formats=("html", "json", "md"), templates=mine)
    monkeypatch.setattr(template_process, "SECONDS", 1)
    with pytest.raises(
        OutputError, match=r"^no report\.html was made: the templates took more than 1 s"
    ) as raised:
        render(simulate(), mine.parent / "out", options=options)
    assert raised.value.exit_code == 4
    assert (mine.parent / "out" / "summary.md").is_file()


@pytest.mark.slow
def test_whatever_happens_in_the_process_the_others_are_made() -> None:
    """Too large, ended by the system, an error of ours, something printed, several steps."""
    found = template_process.made_within_limits(
        too_much, (), ["large", "killed", "wrong", "printing", "steps"]
    )
    assert {name: str(value) for name, value in found.items() if isinstance(value, OutputError)} == {
        "large": "the templates made more than 200,000,000 bytes",
        "killed": "the templates' process ended by SIGKILL; it may use 2 GiB of memory",
        "wrong": "what the templates made cannot be used: ZeroDivisionError: division by zero",
    }
    assert (found["printing"], found["steps"]) == (b"made", b"21")


def test_an_interrupt_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while templates run leaves no process behind."""
    begun = []

    def interrupted(process: subprocess.Popen[bytes], *_words: object, **_options: object) -> None:
        begun.append(process)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        template_process.made_within_limits(too_much, (), ["steps"])
    assert begun[0].poll() is not None


@pytest.mark.parametrize(
    ("answers", "why"), [(b"", "was not ready within 120 s"), (b"ready\n", "took more than 30 s")]
)
def test_a_silent_process_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch, answers: bytes, why: str
) -> None:
    """It says that it is ready, or does not; the clock runs out, also where the system limits no processor time."""

    def silent(*_words: object, timeout: float, **_options: object) -> None:
        raise subprocess.TimeoutExpired("python", timeout, answers)

    monkeypatch.setattr(subprocess, "run", silent)
    found = template_process.made_within_limits(too_much, (), ["steps"])
    assert why in str(found["steps"])


def test_the_shipped_templates_loop_over_records_alone() -> None:
    """They run without limits: none of them calls what could make work of its own (range, lipsum, recursion)."""
    for path in sorted(template_folder().rglob("*.j2")):
        text = path.read_text()
        assert not re.search(r"\b(range|lipsum|cycler|joiner)\s*\(|\brecursive\b|\bloop\(", text), path.name


def test_rendering_by_the_shipped_templates_starts_no_process(
    simulate: Callable[..., Results], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without templates of the user's all is made here."""
    monkeypatch.setattr(template_process, "_answers", lambda *_work: pytest.fail("a process was started"))
    render(simulate(), tmp_path / "out", options=OutputOptions(formats=("html", "json", "md")))
