"""Reads PPTX."""

from collections.abc import Iterable, Iterator
from typing import Any

from pptx.oxml import parse_xml
from pptx.package import Package

DIAGRAM = "/diagramData"
"""The end of the type of the relationship between a slide and the texts of a diagram in it."""


def read_slides(archive: Any) -> tuple[int, Iterator[str]]:
    """Return the number of slides of a PPTX, and its text by slides."""
    # `pptx.Presentation` refuses slide shows and templates, which are the same format.
    slides = Package.open(archive).presentation_part.presentation.slides

    def read() -> Iterator[str]:
        for number, slide in enumerate(slides, 1):
            yield f"[slide {number}]"
            yield from _read_shapes(slide.shapes)
            for relation in slide.part.rels.values():
                if relation.reltype.endswith(DIAGRAM):
                    yield from _read_diagram(relation.target_part.blob)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                yield f"[notes] {slide.notes_slide.notes_text_frame.text}"

    return len(slides), read()


def _read_shapes(shapes: Iterable[Any]) -> Iterator[str]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _read_shapes(shape.shapes)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif shape.has_table:
            for row in shape.table.rows:
                yield " | ".join(cell.text for cell in row.cells if not cell.is_spanned)


def _read_diagram(blob: bytes) -> Iterator[str]:
    for paragraph in parse_xml(blob).iter("{*}p"):
        text = "".join(element.text or "" for element in paragraph.iter("{*}t"))
        if text:
            yield text
