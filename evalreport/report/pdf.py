"""The PDF: laid out by WeasyPrint, tagged for accessibility, with the results attached."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import sys
import warnings
from collections.abc import Callable
from datetime import datetime
from typing import Any

from evalreport.errors import OutputError
from evalreport.report.glyphs import without_missing_glyphs

REMEDIES = {
    "linux": "on Debian or Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0",
    "darwin": "with Homebrew: brew install pango",
    "win32": "with the installer of MSYS2 (msys2.org), then in its shell: pacman -S mingw-w64-x86_64-pango",
}
REMEDY = REMEDIES.get(sys.platform, REMEDIES["linux"])
UA_EXTENSION = b"""<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">\
<pdfuaid:part>1</pdfuaid:part></rdf:Description>\
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/" \
xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">\
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">\
<pdfaSchema:schema>PDF/UA Universal Accessibility Schema</pdfaSchema:schema>\
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>\
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>\
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">\
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>\
<pdfaProperty:category>internal</pdfaProperty:category>\
<pdfaProperty:description>Indicates, which part of ISO 14289 standard is followed</pdfaProperty:description>\
</rdf:li></rdf:Seq></pdfaSchema:property></rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>"""


def pdf_bytes(page: str, attachment: bytes, *, time: datetime) -> bytes:
    """Turn a page into a PDF with the results attached.

    Parameters
    ----------
    page
        The whole HTML document, its style and fonts inside.
    attachment
        The bytes of results.json.
    time
        Of the run: the document bears its day.

    Raises
    ------
    OutputError
        When a system library is missing that this needs; the message says how to install it.
    """
    weasyprint = _weasyprint()
    when = time.replace(hour=0, minute=0, second=0, microsecond=0)
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"], allow_redirects=False)
    document = weasyprint.HTML(string=without_missing_glyphs(page), base_url=None, url_fetcher=fetcher)
    data = weasyprint.Attachment(
        string=attachment, name="results.json", description="The results, as numbers", created=when, modified=when,
        relationship="Data", url_fetcher=fetcher,
    )  # fmt: skip
    laid_out = document.render(pdf_variant="pdf/a-3a", pdf_tags=True)
    laid_out.metadata.attachments = [data]
    laid_out.metadata.created = laid_out.metadata.modified = when.strftime("%Y-%m-%dT%H:%M:%SZ")
    laid_out.metadata.generate_rdf_metadata = _with_accessibility(laid_out.metadata.generate_rdf_metadata)
    identifier = hashlib.sha256(page.encode() + attachment).hexdigest()[:32].encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its colour profile open
        result: bytes = laid_out.write_pdf(pdf_variant="pdf/a-3a", pdf_tags=True, pdf_identifier=identifier)
    return result


def _with_accessibility(generate: Callable[..., bytes]) -> Callable[..., bytes]:
    """Add the PDF/UA part inside the single RDF block: PDF/A forbids a second one."""

    def generate_both(*arguments: Any) -> bytes:
        return generate(*arguments).replace(b"</rdf:RDF>", UA_EXTENSION + b"</rdf:RDF>")

    return generate_both


def _weasyprint() -> Any:
    """Import WeasyPrint quietly: without Pango it prints a banner on stdout and raises OSError."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import weasyprint
            from weasyprint.text.ffi import harfbuzz_subset
    except (OSError, ImportError) as error:
        raise OutputError(f"the PDF needs Pango, which is missing; {REMEDY}") from error
    if harfbuzz_subset is None:
        raise OutputError(f"the PDF needs HarfBuzz's subsetting library, which is missing; {REMEDY}")
    for name in ("weasyprint", "fontTools", "fontTools.subset"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return weasyprint
