"""Reads PDF."""

from collections.abc import Iterator

import pypdfium2
from pypdfium2 import raw

from files.reading.errors import NeedsPassword


class PdfText:
    """The text of a PDF by pages. `has_text`: whether one of the pages that were read so far has text.

    Raises `NeedsPassword`, and `pypdfium2.PdfiumError` for a damaged file.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self._document = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                raise NeedsPassword from error
            raise
        self.pages = len(self._document)
        self.has_text = False

    def __iter__(self) -> Iterator[str]:
        for number in range(self.pages):
            page = self._document[number]
            text_page = page.get_textpage()
            text = text_page.get_text_bounded()
            if text.strip():
                self.has_text = True
                yield f"[page {number + 1}]\n{text}"
            else:
                yield f"[page {number + 1}: no text, probably scanned]"
            text_page.close()
            page.close()
