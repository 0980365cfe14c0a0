"""The tools that list, read, search and write files, and the one that reads the knowledge pages of an agent."""

from uuid import UUID

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Greatest, StrIndex, Substr, Upper
from pydantic import Field

from chats.models import Chat
from chats.named_objects import get_named_object
from common.text import to_storable
from events.payloads import FileState, NoTextReason
from files import services as files
from files.models import File
from files.pages import READ_PAGES, PagesConfig, find_pages
from files.permissions import FileVerb, get_file_for
from tools.interface import Tool, ToolArgs, ToolContext, ToolError, ToolOutput
from tools.registry import register

READ_FILE = "read_file"
MAX_LISTED = 50
MAX_READ_CHARACTERS = 12_000
"""Characters of one reading: more would fill the model's context."""
CONTEXT_CHARACTERS = 120
"""Characters before and after a match that a search returns."""
MAX_MATCHES = 20
NO_TEXT = {
    NoTextReason.PASSWORD: "needs a password. Ask for a copy without one",
    NoTextReason.TOO_LARGE: "is too large, or takes too long to read. Ask for a smaller part of it",
    NoTextReason.DAMAGED: "is damaged. Ask for it again",
    NoTextReason.FORMAT: "has a format that is not read. Ask for it as PDF, DOCX, PPTX, XLSX, text or image",
    NoTextReason.UNAVAILABLE: "could not be read in time. Ask for it to be uploaded again",
}
"""What a model is told of a file without text. Of scanned pages, it is told how many there are."""


def list_readable_files(ctx: ToolContext) -> QuerySet[File]:
    """Return the files of this chat and of its workspace, the newest first. Raises `ToolError` outside a chat.

    A public agent has only the files of the chat: it is in no workspace. A sub-agent has only the files that it was given; without
    any, `ToolError` is raised, because its context has no chat.
    """
    if ctx.file_ids:
        return File.objects.filter(pk__in=ctx.file_ids, deleted_at=None).order_by("-created_at")
    if ctx.chat_id is None:
        raise ToolError("There are no files here.", is_final=True)
    in_chat = Q(chat=ctx.chat_id, posted_at__isnull=False)
    own_chat = Chat.objects.filter(pk=ctx.chat_id, workspace=ctx.actor.workspace_id)
    of_workspace = Q(chat=None, workspace__in=own_chat.values("workspace"))
    return File.objects.filter(in_chat | of_workspace, deleted_at=None).order_by("-created_at")


def describe_file(file: File) -> str:
    pages = f", {file.pages} pages" if file.pages else ""
    pixels = f", {file.width}×{file.height} pixels" if file.width else ""
    place = "this chat" if file.chat_id else "the workspace"
    return f"{file.id} · {file.name} · {file.get_kind_display()}, {file.size:,} bytes{pages}{pixels} · {place}"


@register
class ListFiles(Tool):
    """List the files of this chat and of its workspace, the newest first, each with its id."""

    name = "list_files"
    effect = "read"

    class Args(ToolArgs):
        name_contains: str = Field(default="", max_length=100, description="Only files whose name contains this.")

    def run(self, ctx: ToolContext, args: Args) -> str:
        found = list_readable_files(ctx)
        if args.name_contains:
            found = found.filter(name__icontains=to_storable(args.name_contains))
        listed = list(found.defer("text")[: MAX_LISTED + 1])
        lines = [describe_file(file) for file in listed[:MAX_LISTED]]
        if len(listed) > MAX_LISTED:
            lines.append("There are more. Name a part of the file's name.")
        return "\n".join(lines) or "There are no such files."


@register
class ReadFile(Tool):
    """Read the text of a file: of a text, a PDF, a document, slides or a spreadsheet. Pass `start` to read on."""

    name = READ_FILE
    effect = "read"

    class Args(ToolArgs):
        file_id: str = Field(min_length=1, max_length=40, description="The id of the file.")
        start: int = Field(default=0, ge=0, description="The character to start at.")

    def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        return read_text(get_tool_file(ctx, args.file_id), args.start)


@register
class SearchFiles(Tool):
    """Search the text of the files of this chat and its workspace for words, without regard to case."""

    name = "search_files"
    effect = "read"

    class Args(ToolArgs):
        text: str = Field(min_length=1, max_length=200, description="The words to look for, as they are written.")

    def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        return search_texts(list_readable_files(ctx), args.text)


@register
class ReadPages(Tool):
    """List, search and read the pages that you were given as knowledge. Without arguments, it lists them."""

    name = READ_PAGES
    effect = "read"
    Config = PagesConfig

    class Args(ToolArgs):
        search: str = Field(default="", max_length=200, description="Words to find in them, as they are written.")
        page_id: str = Field(default="", max_length=40, description="The id of the page to read, or to search in.")
        start: int = Field(default=0, ge=0, description="The character to start reading at.")

    def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        ids = list(dict.fromkeys(ctx.config.page_ids)) if isinstance(ctx.config, PagesConfig) else []
        pages = find_pages(ctx.actor.workspace_id, ids)
        if args.page_id:
            page = get_named_object(ctx, "page", args.page_id, pages.get, hint="List the pages first.")
            pages = {page.pk: page}
        if args.search:
            return search_texts(File.objects.filter(pk__in=pages).order_by("name"), args.search)
        if args.page_id:
            return read_text(next(iter(pages.values())), args.start)
        lines = [
            f"{describe_file(pages[id])} · {pages[id].length:,} characters"
            if id in pages
            else f"{id} · missing: it was deleted"
            for id in ids
        ]
        return ToolOutput("\n".join(lines) or "You were given no pages.")


@register
class WriteFile(Tool):
    """Write a new text file, such as a report, a table (CSV) or notes (Markdown), and share it in this chat."""

    name = "write_file"
    effect = "write"
    is_trusted = True

    class Args(ToolArgs):
        name: str = Field(min_length=1, max_length=120, description="The name of the file with its extension.")
        text: str = Field(min_length=1, max_length=200_000, description="The content of the file.")

    def check_rights(self, ctx: ToolContext) -> None:
        _get_chat_to_write(ctx)

    def run(self, ctx: ToolContext, args: Args) -> str:
        file = files.write_file(
            ctx.actor,
            _get_chat_to_write(ctx),
            name=to_storable(args.name),
            text=to_storable(args.text),
            on_behalf_of=ctx.on_behalf_of,
            run_id=ctx.run_id,
            task_metadata=None if ctx.chat_id is not None else ctx.task_metadata,
        )
        return f"The file {file.name} is in the chat now. Its id is {file.id}."


def _get_chat_to_write(ctx: ToolContext) -> UUID:
    """Return the chat in which the run may write files. Raises `ToolError`."""
    chat_id = ctx.shown_in_chat_id if ctx.chat_id is None and ctx.task_metadata is not None else ctx.chat_id
    if chat_id is None:
        raise ToolError("A file can only be written in a chat, by an agent that takes part in it.", is_final=True)
    return chat_id


def read_text(file: File, start: int) -> ToolOutput:
    """Return a part of the text of a file, from this character on. Raises `ToolError` if it has none."""
    if file.state == FileState.WAITING:
        raise ToolError("The file is still being read. Try again in a few seconds.")
    if file.no_text_reason == NoTextReason.SCANNED:
        pages = f"{file.pages} of {file.pages} pages {'has' if file.pages == 1 else 'have'} no text"
        raise ToolError(
            f"{pages}; the file is probably scanned. Ask for its text, or for images of the pages.", is_final=True
        )
    if file.no_text_reason:
        raise ToolError(f"The file {NO_TEXT[NoTextReason(file.no_text_reason)]}.", is_final=True)
    if file.state == FileState.FAILED:
        raise ToolError("The file cannot be read.", is_final=True)
    if not file.text:
        raise ToolError(f"There is no text in this file; its kind is: {file.get_kind_display()}.", is_final=True)
    if start >= len(file.text):
        raise ToolError(f"The text has only {len(file.text):,} characters.", is_final=True)
    end = min(len(file.text), start + MAX_READ_CHARACTERS)
    more = f"\n[The text goes on. Read on with start={end}.]" if end < len(file.text) else ""
    cut = "\n[The file has more text than can be read.]" if file.text_is_cut and not more else ""
    encoding = f" ({file.encoding})" if file.encoding not in ("", "UTF-8") else ""
    head = f"Characters {start:,} to {end:,} of {len(file.text):,} of “{file.name}”{encoding}:\n"
    return ToolOutput(f"{head}{file.text[start:end]}{more}{cut}", quotes_agents=has_possible_agent_text(file))


def search_texts(files: QuerySet[File], words: str) -> ToolOutput:
    """Return excerpts of those of the files whose text contains these words."""
    wanted = to_storable(words)
    # Texts are long, so the database finds the position and sends only the excerpt. `upper` may change the length of a text: the
    # position is then a little off, which is enough to read on.
    position = StrIndex(Upper("text"), Upper(Value(wanted)))
    start = Greatest(F("position") - CONTEXT_CHARACTERS, 1)
    excerpt = Substr("text", start, F("position") - start + len(wanted) + CONTEXT_CHARACTERS)
    matching = files.defer("text").annotate(position=position).filter(position__gt=0)
    found = list(matching.select_related("uploaded_by").annotate(excerpt=excerpt)[:MAX_MATCHES])
    lines = [
        f"{describe_file(file)}\n  at character {file.position - 1:,}: …{' '.join(file.excerpt.split())}…"
        for file in found
    ]
    text = "\n".join(lines) or "No file contains this."
    return ToolOutput(text, quotes_agents=any(has_possible_agent_text(file) for file in found))


def has_possible_agent_text(file: File) -> bool:
    """Return whether an agent may have written the text of a file: then no URL in it counts as read (SEC9)."""
    return file.uploaded_by is None or file.uploaded_by.is_agent


def get_tool_file(ctx: ToolContext, file_id: str) -> File:
    """Return the file that a model names. Raises `ToolError` if it is not in this chat or its workspace."""

    def fetch(id: UUID) -> File | None:
        if not ctx.file_ids:
            get_file_for(ctx.actor, id, FileVerb.SEE, on_behalf_of=ctx.on_behalf_of)
        # For a sub-agent, the rights to the files of its task were checked when its caller passed them.
        return list_readable_files(ctx).filter(pk=id).first()

    return get_named_object(ctx, "file", file_id, fetch, hint="List the files first.")
