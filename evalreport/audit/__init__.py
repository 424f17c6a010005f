"""What is decided on results and kept of them: gates with three outcomes, and the history of audited runs."""
