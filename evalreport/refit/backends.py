"""Fits as tasks, and running them in this process, in worker processes or on a Dask cluster."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import platform
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from evalreport.errors import UsageError
from evalreport.refit.examples import Examples, data_digest
from evalreport.refit.fitting import Done, Failure, Fitted, Job, Search, in_worker, listening, perform
from evalreport.refit.plans import Estimator, Plan, Table, axis, plain
from evalreport.refit.splits import Fit, seed_of
from evalreport.version import __version__

_FORM = 2

Untyped: TypeAlias = Any
Client: TypeAlias = Untyped
Future: TypeAlias = Untyped
"""Types of Dask's distributed, which has no type hints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One fit of one variant of one estimator.

    Attributes
    ----------
    model
        The model's name in the prediction file.
    complexity
        The value on the axis of complexity, if a parameter is varied.
    key
        (32 bytes) digest of everything that the result depends on.
    """

    model: str
    complexity: float | None
    fit: Fit
    job: Job
    key: bytes


def tasks_of(plan: Plan, examples: Examples, fits: Sequence[Fit]) -> tuple[Task, ...]:
    """List the tasks: estimators in the plan's order, their variants, the fits."""
    shared = _shared(plan, examples)
    divisions = [hashlib.sha256(f.train.tobytes() + b"|" + f.test.tobytes()).hexdigest() for f in fits]
    return tuple(
        _task(plan, estimator, variant, fit, number, (shared, division))
        for estimator in plan.estimators
        for variant in _variants(estimator)
        for number, (fit, division) in enumerate(zip(fits, divisions, strict=True))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Variant:
    model: str
    chosen: Table
    complexity: float | None


def _variants(estimator: Estimator) -> Iterator[_Variant]:
    varied = estimator.complexity
    if varied is None:
        yield _Variant(model=estimator.name, chosen={}, complexity=None)
        return
    for value, number in zip(varied.values, axis(varied), strict=True):
        name = f"{estimator.name} ({varied.parameter}={value})" if varied.as_models else estimator.name
        yield _Variant(model=name, chosen={varied.parameter: value}, complexity=number)


def models_of(plan: Plan) -> tuple[str, ...]:
    """Return the names of the models, in the plan's order.

    Examples
    --------
    >>> from evalreport.refit.plans import Complexity, DataSource, Scheme
    >>> tree = Estimator(name="tree", factory=("m:f",),
    ...                  complexity=Complexity(parameter="max_depth", values=(1, 2), as_models=True))
    >>> data = DataSource(file=Path("a.csv"), target="y")
    >>> models_of(Plan(data=data, scheme=Scheme(name="holdout"), estimators=(tree,)))
    ('tree (max_depth=1)', 'tree (max_depth=2)')
    """
    return tuple(dict.fromkeys(v.model for estimator in plan.estimators for v in _variants(estimator)))


def check_models(plan: Plan) -> None:
    """Refuse two estimators whose models would have the same name.

    Raises
    ------
    UsageError
        A model made of a value of complexity has the name of another estimator's model.
    """
    owner: dict[str, str] = {}
    for estimator in plan.estimators:
        for name in dict.fromkeys(variant.model for variant in _variants(estimator)):
            if owner.setdefault(name, estimator.name) != estimator.name:
                raise UsageError(f"two estimators have a model {name!r}; rename {estimator.name!r}")


def _task(
    plan: Plan, estimator: Estimator, variant: _Variant, fit: Fit, number: int, shared: tuple[str, str]
) -> Task:
    """Return a task, whose seed depends on the plan's seed, the estimator's name and the fit alone."""
    scheme = plan.scheme
    assert scheme.inner_folds is not None
    assert scheme.select is not None
    job = Job(
        estimator=estimator,
        chosen=variant.chosen,
        train=fit.train,
        test=fit.test,
        part=fit.part,
        seed=seed_of(plan.seed, f"fit {estimator.name}", number),
        search=Search(
            grid=estimator.grid,
            folds=scheme.inner_folds,
            select=scheme.select,
            stratify=bool(scheme.stratify),
            seed=seed_of(plan.seed, "inner folds", number),
        ),
        train_predictions=bool(scheme.train_predictions),
        folder=plan.folder.resolve(),
    )
    decides = (
        *shared,
        # Of the complexity, only this task's value matters, which is among the chosen parameters.
        {name: value for name, value in plain(estimator).items() if name != "complexity"},
        dict(variant.chosen),
        (job.seed, job.part, job.train_predictions),
        (job.search.folds, job.search.select, job.search.stratify, job.search.seed)
        if estimator.grid
        else None,
    )
    key = hashlib.sha256(json.dumps(decides, sort_keys=True, default=str).encode()).digest()
    return Task(model=variant.model, complexity=variant.complexity, fit=fit, job=job, key=key)


def versions() -> dict[str, str]:
    """Return the versions that the predictions depend on."""
    libraries = ("numpy", "scikit-learn", "scipy")
    return {
        "evalreport": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
    }


def local_modules(folder: Path) -> dict[str, Path]:
    """Return the user's modules that were imported from a folder, by name."""
    place = os.path.normcase(f"{folder.resolve()}{os.sep}")
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        # Compared as texts: a process has thousands of modules, and paths of all of them take longer than a small fit.
        if file is None or not file.endswith(".py") or not os.path.normcase(file).startswith(place):
            continue
        path = Path(file)
        known = name.split(".")[0] in ("__main__", "evalreport")
        if not known and not {"site-packages", "dist-packages"} & set(path.parts):
            found[name] = path
    return found


def _shared(plan: Plan, examples: Examples) -> str:
    """Return a digest of the data, the user's code and the versions, on which every task depends."""
    code = {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in local_modules(plan.folder).items()
    }
    content = (_FORM, data_digest(examples, plan.data), code, versions())
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def perform_all(plan: Plan, examples: Examples, jobs: Sequence[Job]) -> Iterator[Done]:
    """Do the jobs and yield (position in ``jobs``, result) as they finish.

    Raises
    ------
    UsageError
        The cluster cannot be reached or lacks the libraries, or a worker process dies.
    """
    slim = dataclasses.replace(examples, ids=(), written={}, notes=())
    if plan.backend == "dask":
        assert plan.scheduler is not None
        return perform_on_cluster(slim, jobs, scheduler=plan.scheduler, folder=plan.folder)
    if plan.jobs == 1 or plan.backend == "sequential":
        return _here(slim, jobs)
    return _joblib(slim, jobs, plan)


def _here(examples: Examples, jobs: Sequence[Job]) -> Iterator[Done]:
    with _in_this_process():
        for place, job in enumerate(jobs):
            yield place, perform(examples, job)


def _joblib(examples: Examples, jobs: Sequence[Job], plan: Plan) -> Iterator[Done]:
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import BrokenProcessPool

    threads = plan.backend == "threads"
    one = _in_thread if threads else in_worker
    parallel = Parallel(
        n_jobs=plan.jobs, backend="threading" if threads else "loky", return_as="generator_unordered"
    )
    with _in_this_process():
        results = parallel(delayed(one)(place, examples, job) for place, job in enumerate(jobs))
        try:
            with closing(results):
                yield from results
        except BrokenProcessPool:
            raise UsageError(
                "a worker process was ended from outside, perhaps for lack of memory; the fits that were finished"
                " are kept: the same command goes on from there, with fewer --jobs if memory is short"
            ) from None


def _in_thread(place: int, examples: Examples, job: Job) -> Done:
    return place, perform(examples, job)


@contextmanager
def _in_this_process() -> Iterator[None]:
    """Handle warnings and threads as a worker does, and restore both at the end."""
    from threadpoolctl import threadpool_limits

    with listening(), threadpool_limits(1):
        yield


SECONDS_TO_CONNECT = 10
SECONDS_TO_WAIT_FOR_WORKERS = 30
TRIES = 3
JOBS_SENT = 512


def perform_on_cluster(
    examples: Examples, jobs: Sequence[Job], *, scheduler: str, folder: Path
) -> Iterator[Done]:
    """Do the jobs on the workers of a scheduler and yield (position in ``jobs``, result) as they finish.

    Parameters
    ----------
    scheduler
        Address, such as ``tcp://10.0.0.5:8786``.
    folder
        The plan's folder, whose imported modules are sent to the workers.

    Raises
    ------
    UsageError
        The cluster cannot be reached, has no worker, or its workers lack evalreport or scikit-learn.
    """
    with _connected(scheduler) as client:
        _check_workers(client, scheduler)
        _send_modules(client, folder)
        with warnings.catch_warnings():
            # The examples are sent once, in a task of their own, but Dask warns of their size nevertheless.
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            yield from _results(client, examples, jobs)


def _results(client: Client, examples: Examples, jobs: Sequence[Job]) -> Iterator[Done]:
    """Keep ``JOBS_SENT`` jobs on the scheduler, sending another for each result."""
    import distributed

    as_completed: Untyped = distributed.as_completed
    run = uuid.uuid4().hex
    # A task instead of scattered data, so that Dask repeats it when a worker is lost.
    data = client.submit(_received, examples, key=f"evalreport-{run}-examples", pure=False)

    def send(place: int) -> Future:
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


def _outcome(future: Future) -> Fitted | Failure:
    """Return the result of a task; a task that repeatedly killed its workers has failed.

    Raises
    ------
    UsageError
        The scheduler was lost.
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
def _connected(scheduler: str) -> Iterator[Client]:
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


def _check_workers(client: Client, scheduler: str) -> None:
    """Wait for a worker, and refuse workers without evalreport or with other versions."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_WAIT_FOR_WORKERS)
    except TimeoutError:
        raise UsageError(
            f"the Dask scheduler at {scheduler} has no worker; start some with `dask worker {scheduler}`"
        ) from None
    ours = versions()
    theirs: dict[str, dict[str, str] | BaseException] = client.run(versions, on_error="return")
    for address, found in sorted(theirs.items()):
        if isinstance(found, OSError):  # this worker was just lost; others do its work
            continue
        if isinstance(found, BaseException):
            raise UsageError(
                f"the Dask worker {address} cannot run evalreport ({type(found).__name__}: {found}); install the same"
                " evalreport with its extras refit and dask on every worker"
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


def _send_modules(client: Client, folder: Path) -> None:
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
