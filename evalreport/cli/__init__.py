"""The command line: the only room that prints and exits."""

from evalreport.cli.program import main

__all__ = ["main"]
