"""How examples were drawn: one module for each way of drawing them, with its error, its t and what it refuses."""

from evalreport.samplings.attempts import Attempts
from evalreport.samplings.clusters import CLUSTER_T, CR2_T, Clusters
from evalreport.samplings.data_sets import DataSets
from evalreport.samplings.examples import Examples, T
from evalreport.samplings.in_order import HAC_T, InOrder
from evalreport.samplings.influence import Fits, Influence
from evalreport.samplings.judged import PPI, JudgedAnswers
from evalreport.samplings.run import sampling_by, sampling_of, sampling_of_run
from evalreport.samplings.sampling import Sampling, Student, StudentError, within
from evalreport.samplings.seeds import SEEDS_T, Seeds
from evalreport.samplings.sums import Sums
from evalreport.samplings.tasks import SUITE_T, Tasks
from evalreport.samplings.two_sets import OWN_TEST_SETS, TwoTestSets
from evalreport.samplings.weighted import WEIGHTED_T, Weighted

STUDENTS = (T, WEIGHTED_T, SUITE_T, CLUSTER_T, CR2_T, HAC_T, SEEDS_T, PPI)
"""The names of the t interval, by the sampling that it is made for."""

ORDERED = InOrder.words[0]
WORDS = ("weighted examples", "clusters", "tasks", ORDERED, "training seeds", "data sets", OWN_TEST_SETS)
"""All words by which samplings say what is drawn (``Sampling.words``)."""

__all__ = [
    "ORDERED", "OWN_TEST_SETS", "WORDS",
    "STUDENTS", "Attempts", "Clusters", "DataSets", "Examples", "Fits", "InOrder", "Influence", "JudgedAnswers",
    "Sampling", "Seeds", "Student", "StudentError", "Sums", "Tasks", "TwoTestSets", "Weighted", "sampling_by",
    "sampling_of", "sampling_of_run", "within",
]  # fmt: skip
