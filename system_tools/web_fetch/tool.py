"""`web_fetch`: the readable text of a page, with its source."""

import re

import aiohttp
from pydantic import Field
from yarl import URL

from common.egress import list_hosts_without_path, read_capped
from common.fetching import FetchFailed, open_url
from common.shared_slots import SharedSlots
from events.payloads import WebPageData
from system_tools.web_fetch.page_pool import WebPage, read_page
from tools.fence import fence_lines
from tools.interface import Tool, ToolArgs, ToolConfig, ToolContext, ToolError, ToolOutput
from tools.registry import register

MAX_BYTES = 2 * 1024 * 1024
"""Decompressed bytes of a page that are read (RUN14)."""
MAX_CHARS = 19_000
"""Characters of a page in one result. A result has 20,000 at most, of which some are for the lines around the text."""
PAGES_AT_ONCE = 32
"""Pages that one process fetches at the same time, for all its runs (FAIR5)."""
_pages = SharedSlots("pages that are fetched", lambda: PAGES_AT_ONCE)

URL_NOT_ALLOWED = (
    "Nobody here has named this site, and the address does not stand in what was read here, so it was not opened. Use an "
    "address that a person gave, or a link on a page that you have read, exactly as it stands there; or ask for one."
)

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(r"text/.+|application/(.+\+)?(json|xml|yaml|x-yaml|toml|javascript|x-ndjson|ld\+json)")
_ACCEPT = "text/html,application/xhtml+xml,text/plain;q=0.9,text/markdown;q=0.9,application/json;q=0.8,text/*;q=0.7"


class WebFetchConfig(ToolConfig):
    """`max_chars`: the characters of a page in one result; a call with `start` returns the next part."""

    retries: int = Field(default=1, ge=0, le=3)
    max_chars: int = Field(default=12_000, ge=500, le=MAX_CHARS)


@register
class WebFetch(Tool):
    """Read a web page or text file by its address: one on a site that a person named, or a link on a page read before.

    Gives its text as Markdown with links, and how to cite it.
    """

    name = "web_fetch"
    effect = "read"
    Config = WebFetchConfig
    Data = WebPageData

    class Args(ToolArgs):
        url: str = Field(min_length=1, max_length=2048, description="The whole address, with http:// or https://.")
        start: int = Field(
            default=0, ge=0, description="The character to begin at: a long page is read in parts. 0 is the beginning."
        )

    async def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        if not isinstance(ctx.config, WebFetchConfig):
            raise TypeError(f"web_fetch needs a WebFetchConfig, not {type(ctx.config).__name__}.")
        if not await ctx.is_url_allowed(args.url.strip()):
            raise ToolError(URL_NOT_ALLOWED, is_final=True)
        # Private hosts may be opened if the operator names them without a path: a host with a path is allowed for models only.
        try:
            async with (
                _pages.reserve(),
                open_url(
                    args.url.strip(),
                    allow_private=list_hosts_without_path(),
                    headers={"Accept": _ACCEPT},
                    seconds=ctx.config.timeout_s,
                ) as response,
            ):
                is_html = _check_response(response)
                body = await read_capped(response, MAX_BYTES)
        except FetchFailed as failure:
            raise ToolError(failure.message) from failure
        url, charset = response.url, response.charset or ""
        page = await read_page(
            body,
            url=str(url),
            is_html=is_html,
            charset=charset,
            start=args.start,
            length=ctx.config.max_chars,
        )
        is_cut = len(body) == MAX_BYTES
        return ToolOutput(
            format_page(page, url, args.start, is_cut=is_cut), build_page_data(page, url, args.start, is_cut=is_cut)
        )


def _check_response(response: aiohttp.ClientResponse) -> bool | None:
    """Return whether the response is HTML; null if it has no content type. Raises `ToolError` unless it is a page of text."""
    if response.status != 200:
        reasons = {404: "There is no such page", 410: "The page is gone", 429: "The site asks to wait"}
        text = reasons.get(response.status, "The site did not give the page")
        is_transient = response.status in (408, 429) or response.status >= 500
        raise ToolError(f"{text} (HTTP {response.status}).", is_final=not is_transient)
    if "Content-Type" not in response.headers:
        return None
    kind = response.content_type
    if kind in _HTML:
        return True
    if not _TEXT.fullmatch(kind):
        raise ToolError(f"It is {kind}; only web pages and text can be read.", is_final=True)
    return False


def format_page(page: WebPage, url: URL, start: int, *, is_cut: bool) -> str:
    """Return the text for the model: the page between two lines with a random mark, its source on top (SEC9)."""
    title = _escape_brackets(page.title) or url.host or "page"
    address = str(url).replace("(", "%28").replace(")", "%29")
    lines = [
        f"[{title}]({address})",
        f"Site: {_to_one_line(page.site)}" if page.site not in ("", url.host, url.authority) else "",
        f"Published: {_to_one_line(page.published)}" if page.published else "",
        page.text or "(There is no text here.)",
    ]
    fenced = fence_lines("page", filter(None, lines), authors="a stranger", citation="the link on its first line")
    position = _describe_position(start, start + len(page.text), page.total, is_cut=is_cut)
    return "\n".join([*fenced, position] if position else fenced)


def build_page_data(page: WebPage, url: URL, start: int, *, is_cut: bool) -> WebPageData:
    """Return the data for the web app."""
    return WebPageData(
        title=_escape_brackets(page.title) or url.host or "page",
        url=str(url),
        site=_to_one_line(page.site) if page.site not in (url.host, url.authority) else "",
        published=_to_one_line(page.published),
        text=page.text,
        start=start,
        end=start + len(page.text),
        total=page.total,
        is_cut=is_cut,
    )


def _describe_position(start: int, end: int, total: int, *, is_cut: bool) -> str:
    """Return a sentence about the part of the page that the text is; empty for a complete page."""
    end_is_missing = " The page is larger than what is read of one; its end is missing." if is_cut else ""
    if end < total:
        return f"Characters {start:,} to {end:,} of {total:,}. For the next part, call web_fetch with start={end}."
    if start:
        return f"Characters {start:,} to {end:,} of {total:,}: the end.{end_is_missing}"
    return end_is_missing.strip()


def _to_one_line(text: str) -> str:
    return " ".join(text.split())[:200]


def _escape_brackets(title: str) -> str:
    return _to_one_line(title).translate(str.maketrans("[]", "()"))
