"""The command ``evalreport comment``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from evalreport.cli import tell
from evalreport.errors import InputError, OutputError, UsageError
from evalreport.files import content_of
from evalreport.texts import Message

SUMMARY = "summary.md"

NOT_MADE = "**evalreport made no report**\n\n"


@click.command("comment")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("evalreport-out"), metavar="[OUTPUT]")
@click.option("--key", metavar="TEXT",
              help="Tells this comment from others of evalreport on the same review, such as a job's name (default:"
              " the report's title and primary metric).")  # fmt: skip
@click.option("--number", type=click.IntRange(min=1), metavar="N",
              help="Of the pull or merge request (default: that of the pipeline's event).")  # fmt: skip
@click.option("--failed", metavar="TEXT",
              help="No report was made: comment with this reason instead of the summary. Needs --key.")  # fmt: skip
@click.option("--base", type=click.Path(path_type=Path), metavar="RESULTS",
              help="The base branch's results.json or output folder: the comment says what changed since.")  # fmt: skip
@click.option("--inputs", nargs=2, type=click.Path(path_type=Path), metavar="BASE_DIR NEW_DIR",
              help="With --base, the prediction files of both: models are then compared pair by pair.")  # fmt: skip
@click.option("--link", "links", multiple=True, metavar="WORDS=ADDRESS",
              help="Repeatable: a link below the summary.")  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=1), default=60.0, show_default=True, metavar="SECONDS",
              help="The host is left after this time, whatever it is sending.")  # fmt: skip
def comment_command(
    folder: Path,
    key: str | None,
    number: int | None,
    failed: str | None,
    base: Path | None,
    inputs: tuple[Path, Path] | None,
    links: tuple[str, ...],
    timeout: float,
) -> int:
    """Write the summary as one comment on a review.

    The text is summary.md of the folder OUTPUT, for the pull request or merge request of this pipeline. It is found
    again by a hidden marker, so there is one however often it runs. GitHub: GITHUB_REPOSITORY, GITHUB_TOKEN and the
    event's file; GitLab: CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID and GITLAB_TOKEN. Outside of a review
    nothing is done. Exit code 4: no comment could be written; the message says why.
    """
    from evalreport.reviews.comment import body_of, links_of, publish, review_of, with_part

    if failed is not None and key is None:
        raise UsageError("--failed needs --key: without a summary nothing says which comment it is about")
    extra = [(words, address) for words, _, address in (link.partition("=") for link in links)]
    summary = f"{NOT_MADE}{_quoted(failed)}\n" if failed is not None else _read(folder / SUMMARY)
    if base is not None and failed is None:
        summary = with_part(summary, _since_base(base, folder, inputs or None))
    try:
        review = review_of(os.environ, number=number)
    except UsageError as error:
        # The pipeline's variables are wrong, not the command line.
        raise OutputError(f"the comment could not be written: {error}") from None
    if review is None:
        tell(Message("cli.no_comment"))
        return 0
    body = body_of(summary, host=review.host, key=key, links=links_of(os.environ, extra))
    published = publish(review, body, timeout=timeout)
    click.echo(f"comment {published.id} {published.done}")
    return 0


def _since_base(base: Path, folder: Path, inputs: tuple[Path, Path] | None) -> str:
    """Return the part about changes since the base branch, or the reason why it is missing."""
    from evalreport.history.compare_runs import compare_runs
    from evalreport.history.comparison_text import as_part
    from evalreport.report.markdown import escaped
    from evalreport.schema.recorded import read_recorded

    try:
        return as_part(compare_runs(read_recorded(base), read_recorded(folder), inputs=inputs))
    except (InputError, UsageError) as error:
        reason = Message("changes.no_base", reason=str(error))
        tell(reason)
        return f"### {Message('changes.since_base')}\n\n{escaped(str(reason))}\n"


def _read(path: Path) -> str:
    from evalreport.files import recover

    recover(path.parent)
    try:
        return content_of(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise UsageError(
            f"{path}: {reason}; name the folder of a report that was made with -f md among others"
        ) from None


def _quoted(text: str) -> str:
    """Return a text from outside as an indented block of code, which it cannot end."""
    return "\n".join(f"    {line}" for line in text.splitlines()[-30:])
