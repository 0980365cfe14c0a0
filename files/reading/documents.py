"""Reads DOCX.

The text is taken from the elements themselves: the paragraphs of python-docx leave out what is inside another element, such as a
tracked insertion or a content control, and its rows have a merged cell once for each column.
"""

from collections.abc import Iterator
from typing import Any

from docx.opc.package import OpcPackage
from docx.oxml.parser import parse_xml
from lxml import etree

DELETED = {"del", "moveFrom"}
"""Elements of tracked changes whose text is no longer in the document."""
WITHOUT_TEXT = {"pPr", "rPr", "tblPr", "tblGrid", "trPr", "tcPr", "sdtPr", "sectPr", "rt", *DELETED}
OTHER_PARTS = ("header", "footer", "footnotes", "endnotes", "comments")
"""The parts beside the body that have text of their own, by the ends of their relationship types."""
BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


def read_document(archive: Any) -> Iterator[str]:
    """Yield the text of a DOCX by paragraphs and rows of tables: of its body, then of its headers, footers, notes and comments."""
    part = OpcPackage.open(archive).main_document_part
    yield from _read_blocks(_get_root(part))
    for kind in OTHER_PARTS:
        for relation in part.rels.values():
            if relation.is_external or not relation.reltype.endswith(f"/{kind}"):
                continue
            lines = [line for line in _read_blocks(_get_root(relation.target_part)) if line.strip()]
            if lines:
                yield f"[{kind}]"
                yield from lines


def _get_root(part: Any) -> Any:
    # Only parts of some types are parsed already: those of a document with macros are not.
    return part.element if hasattr(part, "element") else parse_xml(part.blob)


def _get_name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def _list_children(element: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names and the children that may have text; of alternatives of one content only the first."""
    for child in element:
        name = _get_name(child)
        if name and name not in WITHOUT_TEXT:
            yield name, child
            if _get_name(element) == "AlternateContent":
                return


def _read_blocks(element: Any) -> Iterator[str]:
    """Yield the paragraphs and the rows of tables in an element, at any depth."""
    for name, child in _list_children(element):
        if name == "p":
            boxes: list[Any] = []
            yield "".join(_read_inline(child, boxes))
            for box in boxes:
                yield from _read_blocks(box)
        elif name == "tr":
            if not any(_get_name(mark) in DELETED for mark in child.iterfind("{*}trPr/*")):
                yield " | ".join("\n".join(_read_blocks(cell)).strip("\n") for cell in _list_cells(child))
        else:
            yield from _read_blocks(child)


def _list_cells(element: Any) -> Iterator[Any]:
    for name, child in _list_children(element):
        if name == "tc":
            yield child
        else:
            yield from _list_cells(child)


def _read_inline(element: Any, boxes: list[Any]) -> Iterator[str]:
    """Yield the text of a paragraph, and add the text boxes in it, which have paragraphs of their own, to `boxes`."""
    for name, child in _list_children(element):
        if name == "t":
            yield child.text or ""
        elif name == "txbxContent":
            boxes.append(child)
        elif name in BREAKS:
            yield BREAKS[name]
        else:
            yield from _read_inline(child, boxes)
