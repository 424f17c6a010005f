"""The tasks on a Dask cluster: sent to its scheduler one by one, and done again where a worker is lost."""

from __future__ import annotations

import logging
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from evalreport.errors import UsageError
from evalreport.learning.examples import Examples
from evalreport.learning.fitting import Failure, Fitted, Job, in_worker
from evalreport.learning.tasks import local_modules, versions

SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT_FOR_WORKERS = 30
TRIES = 3
JOBS_SENT = 512


def perform_on_cluster(
    examples: Examples, jobs: Sequence[Job], *, scheduler: str, folder: Path
) -> Iterator[tuple[int, Fitted | Failure]]:
    """Do the jobs on the workers of a scheduler and yield (place in ``jobs``, result) as they are finished.

    Parameters
    ----------
    scheduler
        Address, such as ``tcp://10.0.0.5:8786``.
    folder
        The plan's folder; the user's modules that were imported from it are sent to the workers.

    Raises
    ------
    UsageError
        Where the cluster cannot be reached, has no worker, or its workers lack evalreport or scikit-learn.
    """
    with _connected(scheduler) as client:
        _check_workers(client, scheduler)
        _send_modules(client, folder)
        with warnings.catch_warnings():
            # The examples are sent once, within a task of their own; Dask warns of their size nevertheless.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            yield from _results(client, examples, jobs)


def _results(client: Any, examples: Examples, jobs: Sequence[Job]) -> Iterator[tuple[int, Fitted | Failure]]:
    """Keep so many jobs with the scheduler, and send another for each that comes back."""
    import distributed

    as_completed: Any = distributed.as_completed
    run = uuid.uuid4().hex
    # A task and not scattered data: what a lost worker held is made again.
    data = client.submit(_received, examples, key=f"evalreport-{run}-examples", pure=False)

    def send(place: int) -> Any:
        return client.submit(in_worker, place, data, jobs[place], key=f"evalreport-{run}-{place}", pure=False)

    waiting = iter(range(len(jobs)))
    places = {send(place): place for place in islice(waiting, JOBS_SENT)}
    returned = as_completed(list(places), loop=client.loop)
    try:
        for future in returned:
            place = places.pop(future)
            yield place, _outcome(future)
            future.release()
            for following in islice(waiting, 1):
                another = send(following)
                places[another] = following
                returned.add(another)
    finally:
        client.cancel(list(places))


def _received(examples: Examples) -> Examples:
    return examples


def _outcome(future: Any) -> Fitted | Failure:
    """Return what a task gave; a task that killed its workers again and again has failed.

    Raises
    ------
    UsageError
        Where the scheduler was lost, and the task with it.
    """
    if future.status == "finished":
        outcome: Fitted | Failure = future.result()[1]
        return outcome
    if future.status != "error":
        raise UsageError(
            "the Dask scheduler was lost; the fits that were finished are kept: start it, and give the same command"
        )
    error = future.exception()
    text = f"{type(error).__name__}: {error}"
    return Failure(" ".join(text.split())[:300], text)


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "the backend dask needs distributed: pip install 'evalreport[refit,dask]', here and on the workers"
        ) from None
    # What goes wrong is said once, by an error: not as tracebacks of the client's own log.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    connect: Any = distributed.Client
    try:
        client = connect(scheduler, timeout=SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        text = " ".join(str(error).split())[:200]
        raise UsageError(
            f"no Dask scheduler answers at {scheduler} ({type(error).__name__}: {text}); start one with"
            " `dask scheduler`, and name the address that it prints with --scheduler"
        ) from None
    with client:
        yield client


def _check_workers(client: Any, scheduler: str) -> None:
    """Wait for a worker, and refuse workers that would give other bytes or nothing."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    except TimeoutError:
        raise UsageError(
            f"the Dask scheduler at {scheduler} has no worker; start some with `dask worker {scheduler}`"
        ) from None
    ours = versions()
    theirs: dict[str, Any] = client.run(versions, on_error="return")
    for address, found in sorted(theirs.items()):
        if isinstance(found, OSError):  # the worker was lost just now; the others do its work
            continue
        if isinstance(found, BaseException):
            raise UsageError(
                f"the Dask worker {address} cannot run evalreport ({type(found).__name__}: {found}); install the same"
                " 'evalreport[refit,dask]' on every worker"
            )
        other = [
            f"{name} {found.get(name)} there, {ours[name]} here"
            for name in ours
            if found.get(name) != ours[name]
        ]
        if other:
            raise UsageError(
                f"the Dask worker {address} has other versions ({', '.join(other)}), and would not give the same"
                " predictions; install the same ones everywhere"
            )


def _send_modules(client: Any, folder: Path) -> None:
    """Copy the user's modules to every worker, those that join later included."""
    for name, path in local_modules(folder).items():
        if "." in name or path.name == "__init__.py":
            raise UsageError(
                f"the module {name!r} is part of a package in the plan's folder; install the package on the"
                " workers, or put the code into one file"
            )
        _patiently(partial(client.upload_file, str(path), load=False))


def _patiently(call: Callable[[], Any]) -> None:
    """Try again where a worker was lost in the middle of it."""
    for left in reversed(range(TRIES)):
        try:
            call()
        except OSError:
            if not left:
                raise
            time.sleep(1)
        else:
            return
