"""Records under their old module, until every import names its theme."""

from evalreport.schema.algorithms import *  # noqa: F403
from evalreport.schema.audit import *  # noqa: F403
from evalreport.schema.comparisons import *  # noqa: F403
from evalreport.schema.curves import *  # noqa: F403
from evalreport.schema.decisions import *  # noqa: F403
from evalreport.schema.inputs import *  # noqa: F403
from evalreport.schema.judges import *  # noqa: F403
from evalreport.schema.metrics import *  # noqa: F403
from evalreport.schema.slices import *  # noqa: F403
from evalreport.schema.warnings import *  # noqa: F403
