"""`web_search`: pages about a question, by the search service of the operator."""

import asyncio
from typing import Any

import aiohttp
from django.conf import settings
from pydantic import Field
from pydantic_core import from_json

from common.egress import check_url, get_session_for, read_capped
from events.payloads import SearchHit, SearchResultsData
from system_tools.web_search.providers import build_search_request, parse_results
from tools.fence import fence_lines
from tools.interface import Tool, ToolArgs, ToolConfig, ToolContext, ToolError, ToolOutput

MAX_BYTES = 1024 * 1024
"""Bytes of an answer that are read (RUN14)."""
MAX_RESULTS = 20


class WebSearchConfig(ToolConfig):
    """`max_results`: the number of pages in one result."""

    retries: int = Field(default=1, ge=0, le=3)
    max_results: int = Field(default=8, ge=1, le=MAX_RESULTS)


class WebSearch(Tool):
    """Search the web. Gives pages with their title, address and an excerpt; read those that matter with web_fetch."""

    name = "web_search"
    effect = "read"
    Config = WebSearchConfig
    Data = SearchResultsData

    class Args(ToolArgs):
        query: str = Field(min_length=1, max_length=400, description="What to search for, as in a search box.")

    async def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        if not isinstance(ctx.config, WebSearchConfig):
            raise TypeError(f"web_search needs a WebSearchConfig, not {type(ctx.config).__name__}.")
        query = " ".join(args.query.split())
        answer = await _request(query, ctx.config.max_results, seconds=ctx.config.timeout_s)
        results = parse_results(settings.WEB_SEARCH["provider"], answer)[: ctx.config.max_results]
        return ToolOutput(format_results(results), SearchResultsData(query=query, results=results))


async def _request(query: str, count: int, *, seconds: float) -> Any:
    """Return the answer of the search service. Raises `ToolError`, without the key and the address of the service."""
    service = settings.WEB_SEARCH
    request = build_search_request(
        service["provider"], url=service["url"], key=service["key"], query=query, count=count
    )
    target = check_url(request.url, any_host=True)  # the operator has chosen it
    try:
        async with (
            asyncio.timeout(seconds),
            get_session_for(target).request(
                request.method,
                target.url,
                params=dict(request.params),
                headers=dict(request.headers),
                json=request.json,
                allow_redirects=False,
            ) as response,
        ):
            body = await read_capped(response, MAX_BYTES)
            status = response.status
    except (TimeoutError, aiohttp.ClientError) as error:
        raise ToolError("The search service did not answer.") from error
    if status == 429:
        raise ToolError("The search service asks to wait.")
    if status != 200:
        raise ToolError(f"The search service refused the request (HTTP {status}).", is_final=status < 500)
    try:
        return from_json(body)
    except ValueError as error:
        raise ToolError("The search service gave no readable answer.", is_final=True) from error


def format_results(results: list[SearchHit]) -> str:
    """Return the text for the model: the results between two lines with a random mark (SEC9)."""
    if not results:
        # The query is not repeated: the model has written it, and a URL in a result may be opened (SEC9).
        return "Nothing was found."
    lines: list[str] = []
    for number, result in enumerate(results, 1):
        published = f" ({result.published})" if result.published else ""
        lines += [f"{number}. {result.title}{published}", f"   {result.url}", f"   {result.text}"]
    return "\n".join(fence_lines("results", lines, authors="strangers", citation="its link"))
