"""Knowledge pages: files of the workspace that an agent knows. Their ids are a setting of its tool `read_pages`, so each version of
the agent has its own."""

from collections.abc import Iterable
from typing import Any, Literal
from uuid import UUID

from django.db.models.functions import Left, Length
from pydantic import Field

from files.models import File
from tools.fence import fence_lines
from tools.interface import ToolConfig

READ_PAGES = "read_pages"
"""The name of the tool (`files/agent_tools.py`)."""
MAX_PAGES = 20
MAX_CONTEXT_CHARACTERS = 20_000
"""Characters of all pages together in the system text of a run."""
PAGES_DIVISOR = 4
"""Pages have at most a quarter as many characters as the model reads tokens: a Chinese character may be a token."""


class PagesConfig(ToolConfig):
    """`page_ids`: files of the workspace. `mode`: with `context`, the texts are in the system text of each run; with `retrievable`,
    the model lists, searches and reads them."""

    page_ids: list[UUID] = Field(default=[], max_length=MAX_PAGES)
    mode: Literal["context", "retrievable"] = "context"


def find_pages(workspace_id: UUID | None, ids: Iterable[UUID]) -> dict[UUID, Any]:
    """Return those of these files that are the workspace's own, without their texts, with `length`: the number of characters.

    Files of chats are not among them: an agent answers people who are not in that chat.
    """
    files = File.objects.filter(pk__in=list(ids), workspace=workspace_id, chat=None, deleted_at=None)
    return files.defer("text").annotate(length=Length("text")).in_bulk()


def build_pages_text(workspace_id: UUID | None, config: ToolConfig, model_size: int) -> str:
    """Return the texts of the pages for the system text of a run; empty if none are to be there.

    `model_size`: the most tokens that the run may read. What is too long is cut, and a line tells the model how to read on. A page
    that is gone is named as missing.
    """
    if not isinstance(config, PagesConfig) or config.mode != "context" or not config.page_ids:
        return ""
    left = min(MAX_CONTEXT_CHARACTERS, model_size // PAGES_DIVISOR)
    pages = find_pages(workspace_id, config.page_ids)
    beginnings = dict(File.objects.filter(pk__in=pages).values_list("pk", Left("text", left)))
    lines: list[str] = []
    for id in dict.fromkeys(config.page_ids):
        page = pages.get(id)
        if page is None:
            lines.append(f"[The page {id} is missing: it was deleted.]")
            continue
        text = beginnings[id][:left]
        left -= len(text)
        lines += [f"[Page {' '.join(page.name.split())} · {id}]", *text.splitlines()]
        if not page.length:
            lines.append("[There is no text in this page.]")
        elif len(text) < page.length:
            lines.append(f"[Cut. Read on with {READ_PAGES}: page_id={id}, start={len(text)}.]")
    fenced = fence_lines("pages", lines, authors="the authors of your knowledge pages", citation="the name of the page")
    return "\n".join(["Editors have given you these pages of the workspace as knowledge.", *fenced])
