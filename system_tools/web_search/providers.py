"""The search services that `web_search` can ask: what a request to each is, and where its results are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from common.text import to_storable
from events.payloads import SearchHit

MAX_TITLE_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 600


@dataclass(frozen=True)
class SearchRequest:
    """An HTTP request to a search service."""

    method: str
    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None


PROVIDERS = {"searxng": "", "brave": "https://api.search.brave.com", "tavily": "https://api.tavily.com"}
"""The search services, and their addresses. SearXNG is a server of the operator."""


def build_search_request(provider: str, *, url: str, key: str, query: str, count: int) -> SearchRequest:
    """Return the request that asks a service for `count` results. `url`: its address, if it is not the usual one."""
    base = (url or PROVIDERS[provider]).rstrip("/")
    accept = {"Accept": "application/json"}
    if provider == "brave":
        params = {"q": query, "count": str(count)}
        return SearchRequest("GET", f"{base}/res/v1/web/search", params, {**accept, "X-Subscription-Token": key})
    if provider == "tavily":
        headers = {**accept, "Authorization": f"Bearer {key}"}
        return SearchRequest("POST", f"{base}/search", headers=headers, json={"query": query, "max_results": count})
    return SearchRequest("GET", f"{base}/search", {"q": query, "format": "json"}, accept)


def parse_results(provider: str, answer: Any) -> list[SearchHit]:
    """Return the results of an answer. Results without an http(s) address are left out."""
    found = answer.get("web", {}) if provider == "brave" and isinstance(answer, dict) else answer
    items = found.get("results", []) if isinstance(found, dict) else []
    results = [_parse_result(item) for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [result for result in results if result.url.startswith(("https://", "http://"))]


def _parse_result(item: Mapping[str, Any]) -> SearchHit:
    url = _clean(item.get("url"), 2048)
    return SearchHit(
        title=_clean(item.get("title"), MAX_TITLE_CHARACTERS) or url,
        url=url,
        text=_clean(item.get("content") or item.get("description"), MAX_TEXT_CHARACTERS),
        published=_clean(item.get("publishedDate") or item.get("published_date") or item.get("age"), 40),
    )


def _clean(value: object, limit: int) -> str:
    """Return a text of the web on one line."""
    return " ".join(to_storable(value).split())[:limit] if isinstance(value, str) else ""
