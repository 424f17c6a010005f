"""Results -> what is said (``sections``) -> HTML, PDF, Markdown and JSON: nothing is decided or computed anew."""

from evalreport.report.writing import RenderOutcome, render

__all__ = ["RenderOutcome", "render"]
