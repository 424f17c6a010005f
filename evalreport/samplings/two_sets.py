"""Two models with a test set each, drawn independently."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from evalreport.engine.counts import freedom
from evalreport.samplings.sampling import Sampling, Student, StudentError, Value, by_factors
from evalreport.texts import Message

OWN_TEST_SETS = "test sets of their own"


@dataclass(frozen=True, eq=False)
class TwoTestSets(Sampling):
    """Each side of a difference was drawn by itself, so that their variances add.

    Of single examples the influence values of both make one sample; else the degrees of freedom are Welch's.

    Attributes
    ----------
    first, second
        How the examples of each side were drawn.
    """

    first: Sampling = field(kw_only=True)
    second: Sampling = field(kw_only=True)

    two_sets = True

    @classmethod
    def of(cls, first: Sampling, second: Sampling) -> TwoTestSets:
        """Return both test sets as one sampling."""
        return cls(
            first.n + second.n, examples=first.n_examples + second.n_examples, first=first, second=second
        )

    @property
    def side(self) -> Sampling:
        """The side that says what is drawn: the first that is not of single examples alike."""
        return self.second if self.first.alike else self.first

    @property
    def students(self) -> tuple[Student, ...]:
        """Those of a side."""
        return self.side.students

    @property
    def words(self) -> tuple[str, ...]:
        """Test sets of their own, and what is drawn on each."""
        return (OWN_TEST_SETS, *self.side.words)

    @property
    def only_sums(self) -> bool:
        """Whether only sums over the examples are known."""
        return self.first.only_sums

    @property
    def single(self) -> bool:
        """Whether single examples were drawn on both sides."""
        return self.first.single and self.second.single

    @cached_property
    def meets(self) -> frozenset[str]:
        """What both sides meet; they are no one set."""
        both = (self.first.meets & self.second.meets) - {"one_set"} | {"several_units"}
        return both | (self.side.meets & {"clusters"})

    @property
    def alone(self) -> Message:
        """Why there is no error, as of one side."""
        return self.side.alone

    @property
    def same(self) -> Message:
        """What is to be said where the units do not vary, as of one side."""
        return self.side.same

    @property
    def limits_if_same(self) -> bool:
        """Whether a difference whose units do not vary may have limits."""
        return self.side.limits_if_same

    @property
    def as_one(self) -> bool:
        """Whether both samples may be taken as one: single examples alike, without people's answers."""
        return self.alike and "no_gold" in self.meets

    @property
    def clusters(self) -> int | None:
        """Number of clusters of both; single examples count as one each."""
        if self.first.clusters is None and self.second.clusters is None:
            return None
        return self.first.n_units + self.second.n_units

    @cached_property
    def n_effective(self) -> float | None:
        """Kish's effective number of both together."""
        a, b = self.first.n_effective, self.second.n_effective
        return None if a is None or b is None else a + b

    @property
    def weighted(self) -> bool:
        """Whether examples of both weigh differently."""
        return self.first.weighted and self.second.weighted

    def robust(self, value: Value) -> StudentError | None:
        """Return the error of both samples taken as one, else the root of the added variances by Welch."""
        if self.as_one:
            return by_factors(value, freedom(self.n_units))
        first, second = value.sides
        return welch(self.first.robust(first), self.second.robust(second))

    def error(self, value: Value) -> StudentError | None:
        """Return the same with each side's leading error."""
        if self.as_one:
            return self.robust(value)
        first, second = value.sides
        return welch(self.first.error(first), self.second.error(second))


def welch(first: StudentError | None, second: StudentError | None) -> StudentError | None:
    """Return the root of the added variances, with Welch's degrees of freedom."""
    if first is None or second is None:
        return None
    error = (first.error**2 + second.error**2) ** 0.5
    if error == 0:
        return StudentError(0.0, min(first.df, second.df))
    return StudentError(error, error**4 / (first.error**4 / first.df + second.error**4 / second.df))
