"""Results -> what is said (``sections``) -> HTML, PDF, Markdown, JSON: nothing is decided anew."""

from evalreport.report.writing import RenderOutcome, prepared, render

__all__ = ["RenderOutcome", "prepared", "render"]
