"""Make ``python -m evalreport`` the same as ``evalreport``."""

from evalreport.cli import process

if __name__ == "__main__":
    process()
