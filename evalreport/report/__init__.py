"""Results -> what is said (``sections``) -> HTML, PDF, Markdown, JSON: nothing is decided anew."""

from evalreport.report.writing import RenderOutcome, render

__all__ = ["RenderOutcome", "render"]
