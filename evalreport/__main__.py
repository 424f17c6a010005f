"""Make ``python -m evalreport`` the same as ``evalreport``."""

import signal

# An interrupt while the program is loaded ends it without a word: nothing was begun.
LOADED_BY_US = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if LOADED_BY_US:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from evalreport.cli import process  # noqa: E402 - after the line above, which is about it

if LOADED_BY_US:
    signal.signal(signal.SIGINT, signal.default_int_handler)

if __name__ == "__main__":
    process()
