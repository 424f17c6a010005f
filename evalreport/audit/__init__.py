"""What is decided on results: gates with three outcomes."""
