"""Syntax trees of the package's files, each parsed once for all tests that look at the code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """Return a file's syntax tree, which is only read."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Return all nodes of that tree."""
    return list(ast.walk(tree_of(path)))
