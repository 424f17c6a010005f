"""Running fits with joblib: in this process, in threads, in worker processes or on a Dask cluster."""

from __future__ import annotations

import dataclasses
import logging
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from evalreport.errors import UsageError
from evalreport.refit.examples import Examples
from evalreport.refit.fitting import Done, Failure, listen, perform
from evalreport.refit.plans import Plan
from evalreport.refit.tasks import Task, local_modules, versions

Untyped: TypeAlias = Any
"""Of joblib and Dask's distributed, which have no type hints."""
SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT_FOR_WORKERS = 30
TRIES = 3


def perform_all(plan: Plan, examples: Examples, tasks: Sequence[Task]) -> Iterator[Done]:
    """Do the tasks and yield (position in ``tasks``, result) as they finish.

    Raises
    ------
    UsageError
        The cluster cannot be reached or lacks the libraries, or a worker process dies.
    """
    if not tasks:
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool
    from threadpoolctl import threadpool_limits

    slim = dataclasses.replace(examples, ids=(), written={}, notes=())
    # As in a worker; both are restored at the end.
    with warnings.catch_warnings(), threadpool_limits(1), _backend(plan, slim) as (options, data):
        listen()
        # Dask warns of the examples' size although they are sent once; and joblib 1.5 of its own backend for Dask.
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
        warnings.filterwarnings("ignore", "`apply_async` is deprecated", DeprecationWarning)
        results = Parallel(return_as="generator_unordered", **options)(
            delayed(perform)(place, data, task) for place, task in enumerate(tasks)
        )
        try:
            with closing(results):
                yield from results
        except BrokenProcessPool:
            raise UsageError(
                "a worker process was ended from outside, perhaps for lack of memory; the fits that were finished"
                " are kept: the same command goes on from there, with fewer --jobs if memory is short"
            ) from None


@contextmanager
def _backend(plan: Plan, examples: Examples) -> Iterator[tuple[dict[str, Untyped], Untyped]]:
    """Yield the options of ``joblib.Parallel``, and the examples in the form in which each task gets them."""
    if plan.backend != "dask":
        n_jobs = 1 if plan.backend == "sequential" else plan.jobs
        yield {"n_jobs": n_jobs, "backend": plan.backend.replace("threads", "threading")}, examples
        return
    assert plan.scheduler is not None
    with _connected(plan.scheduler) as client:
        from distributed.client import FutureCancelledError

        _check_workers(client, plan.scheduler)
        _send_modules(client, plan.folder)
        # A task instead of scattered data, so that Dask repeats it when a worker is lost.
        data = client.submit(_received, examples, pure=False)
        try:
            yield {"n_jobs": -1, "backend": _cluster(client), "batch_size": 1}, data
        except FutureCancelledError:
            raise UsageError(
                "the Dask scheduler was lost; the fits that were finished are kept: start it, and give the same"
                " command"
            ) from None


def _received(examples: Examples) -> Examples:
    return examples


def _cluster(client: Untyped) -> Untyped:
    """Return joblib's backend for a cluster, with one change: a task that repeatedly killed its workers has failed.

    joblib waits for such a task without end, since it is called back for results alone.
    """
    from joblib._dask import DaskDistributedBackend

    class Cluster(DaskDistributedBackend):  # type: ignore[misc]  # joblib has no type hints
        def submit(self, batch: Untyped, callback: Untyped = None) -> Untyped:
            def fail(ended: Untyped) -> None:
                error = ended.exception()
                if error is not None:
                    text = f"{type(error).__name__}: {error}"
                    said = (" ".join(text.split())[:300], text)
                    tasks = ((place, task) for _, (place, _, task), _ in batch.items)
                    callback([(k, Failure(task.variant.model, task.numbers, *said)) for k, task in tasks])

            future = super().submit(batch, callback)
            future.add_done_callback(fail)
            return future

    return Cluster(client=client)


@contextmanager
def _connected(scheduler: str) -> Iterator[Untyped]:
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "the backend dask needs distributed: install evalreport with its extras refit and dask,"
            " here and on the workers"
        ) from None
    # Errors are raised here, so the client's log need not print them, too.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    connect: Untyped = distributed.Client
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


def _check_workers(client: Untyped, scheduler: str) -> None:
    """Wait for a worker, and refuse workers without evalreport or with other versions."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    except TimeoutError:
        raise UsageError(
            f"the Dask scheduler at {scheduler} has no worker; start some with `dask worker {scheduler}`"
        ) from None
    here = versions()
    for address, there in sorted(client.run(versions, on_error="return").items()):
        if isinstance(there, OSError):  # this worker was just lost; others do its work
            continue
        if isinstance(there, BaseException):
            raise UsageError(
                f"the Dask worker {address} cannot run evalreport ({type(there).__name__}: {there}); install the same"
                " evalreport with its extras refit and dask on every worker"
            )
        unlike = (name for name in here if there.get(name) != here[name])
        differing = [f"{name} {there.get(name)} there, {here[name]} here" for name in unlike]
        if differing:
            raise UsageError(
                f"the Dask worker {address} has other versions ({', '.join(differing)}), and would not give the same"
                " predictions; install the same ones everywhere"
            )


def _send_modules(client: Untyped, folder: Path) -> None:
    """Copy the user's modules to every worker, also to those that join later."""
    for name, path in local_modules(folder).items():
        if "." in name or path.name == "__init__.py":
            raise UsageError(
                f"the module {name!r} is part of a package in the plan's folder; install the package on the"
                " workers, or put the code into one file"
            )
        _patiently(partial(client.upload_file, str(path), load=False))


def _patiently(call: Callable[[], object]) -> None:
    """Try again if a worker is lost meanwhile."""
    for left in reversed(range(TRIES)):
        try:
            call()
        except OSError:
            if not left:
                raise
            time.sleep(1)
        else:
            return
