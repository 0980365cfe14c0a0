"""`search_guides`: pages of a travel guide or an encyclopedia, which are MediaWiki sites."""

import re
from html import unescape
from typing import Literal
from urllib.parse import quote

from pydantic import Field, TypeAdapter

from events.payloads import SearchHit, SearchResultsData
from system_tools.public_services.client import (
    PublicServiceConfig,
    ServiceAnswer,
    clean_line,
    get_service_url,
    request_json,
)
from system_tools.web_search.tool import format_results
from tools.interface import Tool, ToolArgs, ToolContext, ToolOutput

MAX_PAGES = 5
_TAG = re.compile(r"<[^<>]{0,200}>")


class _Page(ServiceAnswer):
    key: str = Field(min_length=1, max_length=300)
    title: str
    excerpt: str | None = None
    description: str | None = None


class _Pages(ServiceAnswer):
    pages: list[_Page]


class SearchGuides(Tool):
    """Search a travel guide (Wikivoyage: sights, areas, transport, prices) or an encyclopedia (Wikipedia). Gives pages with their
    address and an excerpt; read those that matter with web_fetch, and cite them."""

    name = "search_guides"
    effect = "read"
    Config = PublicServiceConfig
    Data = SearchResultsData

    class Args(ToolArgs):
        query: str = Field(min_length=1, max_length=200, description="What to search for, such as a town or a sight.")
        site: Literal["travel_guide", "encyclopedia"] = Field(default="travel_guide", description="Where to search.")
        language: Literal["de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "vi", "zh"] = Field(
            default="en", description="The language of the pages. English has most of them."
        )

    async def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        query = " ".join(args.query.split())
        found = await request_json(
            args.site,
            "/w/rest.php/v1/search/page",
            {"q": query, "limit": str(MAX_PAGES)},
            TypeAdapter(_Pages),
            seconds=ctx.config.timeout_s,
            language=args.language,
        )
        base = get_service_url(args.site, language=args.language)
        results = [_build_hit(base, page) for page in found.pages[:MAX_PAGES]]
        return ToolOutput(format_results(results), SearchResultsData(query=query, results=results))


def _build_hit(base: str, page: _Page) -> SearchHit:
    excerpt = unescape(_TAG.sub("", page.excerpt or ""))
    text = ". ".join(filter(None, [clean_line(page.description or "", 200), clean_line(excerpt, 400)]))
    return SearchHit(
        title=clean_line(page.title, 200) or "page", url=f"{base}/wiki/{quote(page.key, safe='/:,()!')}", text=text
    )
