"""Who does the tasks: this process, its threads, other processes (loky) or a Dask cluster.

Each task depends on its own job alone, so the results are the same bytes whoever does them and in whatever order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

from evalreport.errors import UsageError
from evalreport.learning.examples import Examples
from evalreport.learning.fitting import Done, Job, in_worker, perform
from evalreport.learning.plans import Plan
from evalreport.learning.surroundings import listening


def perform_all(plan: Plan, examples: Examples, jobs: Sequence[Job]) -> Iterator[Done]:
    """Do the jobs and yield (place in ``jobs``, result) in the order in which they are finished.

    Raises
    ------
    UsageError
        Where the cluster cannot be reached, lacks the libraries, or a worker process dies.
    """
    slim = dataclasses.replace(examples, ids=(), written={}, said=())
    if plan.backend == "dask":
        from evalreport.learning.cluster import perform_on_cluster

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
    """Keep warnings and threads as a worker would, and give both back at the end."""
    from threadpoolctl import threadpool_limits

    with listening(), threadpool_limits(1):
        yield
