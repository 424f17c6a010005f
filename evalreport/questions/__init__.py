"""The questions of a run, each in a room of its own: a folder with all that belongs to it.

A room has some of these files, and each obeys the imports of the package whose work it does (docs/design.md):
``records.py`` (the lists of results.json), ``options.py``, ``compute.py`` (the answer), ``warnings.py``, ``gates.py``,
``clause.py`` (of the headline), ``section.py`` (of the report), ``charts.py`` and ``texts.toml``. ``ROOMS`` in
``extensions.py`` is the order in which the questions are answered.
"""
