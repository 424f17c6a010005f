"""Reports: results described in sections, and written as HTML, PDF, Markdown, JSON."""

from evalreport.report.writing import RenderOutcome, document, render

__all__ = ["RenderOutcome", "document", "render"]
