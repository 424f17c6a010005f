"""Make ``python -m evalreport`` the same as ``evalreport``."""

import sys

from evalreport.cli import main

if __name__ == "__main__":
    sys.exit(main())
