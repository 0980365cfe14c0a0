"""The workspace tool that sends an HTTP request to its server."""

import json
from typing import Any
from urllib.parse import urlencode

import aiohttp
from pydantic_core import from_json
from yarl import URL

from common.egress import Target, check_url, get_session_for, list_hosts_without_path, read_capped
from common.fetching import MAX_REDIRECTS, REDIRECTS, build_failure
from common.secrets import Secret
from common.text import remove_invisible
from events.payloads import HTTPResponseData
from events.rows import AuthScheme
from tools.credentials import (
    build_auth_headers,
    build_auth_query,
    decrypt_credential,
    find_credential_arguments,
    redact_credential,
)
from tools.http.mapping import READ_METHODS, RequestMapping, ToolRequest, build_http_request
from tools.interface import ToolContext, ToolError, ToolOutput
from tools.models import ToolServer
from tools.stored_tool import MAX_CHARACTERS, MAX_ERROR_CHARACTERS, StoredTool, call_slots, shorten

MAX_BYTES = 2 * 1024 * 1024
"""Decoded bytes of a response that are read (RUN14)."""
_TEXT_TYPES = ("json", "xml", "text/", "yaml", "javascript", "x-www-form-urlencoded")


class HTTPTool(StoredTool):
    """A tool whose call is one HTTP request. It may write; it is retried only if that does no harm (RUN15)."""

    async def run(self, ctx: ToolContext, args: dict[str, Any]) -> ToolOutput:
        server = self.row.server
        mapping = RequestMapping.model_validate(self.row.request)
        names = find_credential_arguments(server, mapping)
        request = build_http_request(
            mapping,
            {name: value for name, value in args.items() if name not in names},
            credential_name=server.auth_name if server.auth == AuthScheme.QUERY else "",
        )
        credential = decrypt_credential(server)
        headers = {"Accept": "application/json, text/plain;q=0.9, */*;q=0.5", **server.headers, **request.headers}
        if self.effect == "write":
            headers["Idempotency-Key"] = ctx.call_id
        try:
            async with call_slots.reserve():
                response = await _send(server, request, credential, headers, can_repeat=self.can_repeat)
                try:
                    body = await read_capped(response, MAX_BYTES)
                finally:
                    response.close()
        except aiohttp.ClientError as error:
            raise ToolError(build_failure(error).message, is_final=not self.can_repeat) from error
        whole = _decode(response, body)
        text = redact_credential(whole, MAX_CHARACTERS, server, credential)
        left_out = max(0, len(whole) - MAX_CHARACTERS)
        content_type = redact_credential(response.content_type, 100, server, credential)[:100]
        if response.status >= 400:
            is_transient = response.status in (408, 429) or response.status >= 500
            raise ToolError(
                f"{server.name} refused the call (HTTP {response.status})."
                + (f"\n{self.fence_answer(shorten(text, MAX_ERROR_CHARACTERS, left_out))}" if text else ""),
                is_final=not (self.can_repeat and is_transient),
            )
        shown = shorten(text, MAX_CHARACTERS, left_out)
        data = HTTPResponseData(
            server=server.name,
            method=request.method,
            path=self.row.request["path"],
            status=response.status,
            content_type=content_type,
            text=shown,
            is_cut=shown != text or len(body) == MAX_BYTES,
        )
        return ToolOutput(
            f"HTTP {response.status}\n{self.fence_answer(shown)}" if text else f"HTTP {response.status}", data
        )


async def _send(
    server: ToolServer, request: ToolRequest, credential: Secret, headers: dict[str, str], *, can_repeat: bool
) -> aiohttp.ClientResponse:
    """Send the request. A redirect is followed only for GET and HEAD of a call that may be repeated, and only within the same
    origin, so that the credential gets to no other server. Raises `ToolError`, `HostRefused`."""
    target = build_target(server, request, credential)
    auth_headers = build_auth_headers(server, credential)
    names = {name.lower() for name in auth_headers}
    headers = {name: value for name, value in headers.items() if name.lower() not in names} | auth_headers
    for _ in range(MAX_REDIRECTS + 1):
        response = await get_session_for(target).request(
            request.method,
            target.url,
            headers=headers,
            data=request.body,
            allow_redirects=False,
            skip_auto_headers=("Content-Type",),  # else aiohttp sends one without a body
        )
        location = response.headers.get("Location", "")
        if response.status not in REDIRECTS or not location:
            return response
        response.close()
        try:
            url = target.url.join(URL(location))
            is_same_origin = url.origin() == target.url.origin()
        except ValueError:  # it is no address
            is_same_origin = False
        if not (can_repeat and request.method in READ_METHODS and is_same_origin):
            raise ToolError(
                f"{server.name} redirects to another address, which is not followed. An editor can correct its address.",
                is_final=True,
            )
        target = check_url(str(url), list_hosts_without_path())
    raise ToolError(f"{server.name} redirects more than {MAX_REDIRECTS} times.", is_final=True)


def build_target(server: ToolServer, request: ToolRequest, credential: Secret) -> Target:
    """Return the checked URL of a request. Its host is that of the server, whatever the arguments are. Raises `HostRefused`."""
    base = check_url(server.base_url, list_hosts_without_path())
    query = "&".join(filter(None, (request.query, urlencode(build_auth_query(server, credential)))))
    path = request.path if request.is_from_root else base.url.raw_path.rstrip("/") + request.path
    url = URL.build(
        scheme=base.url.scheme, authority=base.url.raw_authority, path=path, query_string=query, encoded=True
    )
    return Target(url, base.trusted)


def _decode(response: aiohttp.ClientResponse, body: bytes) -> str:
    """Return the body as text: JSON is indented. A binary body is only named."""
    content_type = response.headers.get("Content-Type", "").lower()
    if not body:
        return ""
    try:
        return remove_invisible(json.dumps(from_json(body), ensure_ascii=False, indent=1))
    except ValueError:
        pass
    if content_type and not any(kind in content_type for kind in _TEXT_TYPES):
        return f"[{response.content_type[:100]}, {len(body):,} bytes, which cannot be read as text]"
    try:
        text = body.decode(response.charset or "utf-8", "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    return remove_invisible(text)
