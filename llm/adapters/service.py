"""The adapter of the operator's service that merges suggestions: one signed POST, one JSON answer.

The signature follows Standard Webhooks (https://www.standardwebhooks.com), so that a service can verify it with their
libraries. The request and the answer are described in docs/suggestions.md.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from uuid import UUID

import aiohttp

from common.egress import HostRefused, check_url, get_session_for, read_capped
from common.standard_webhooks import build_signature_headers
from llm.errors import build_status_error, redact
from llm.messages import Answer, Chunk, ModelRequest, Usage
from llm.protocol import Endpoint, LLMError, Timeouts

SERVICE_NAME = "merge service"
"""Its name in the ledger."""
MAX_REQUEST_SECONDS = 60.0
MAX_BODY_BYTES = 2 * 1024 * 1024


def build_service_request(id: UUID, kind: str, input: Mapping[str, Any]) -> str:
    """Return the JSON body of a request. `id` is the same when the request is repeated."""
    return json.dumps({"id": str(id), "type": kind, "input": input}, ensure_ascii=False)


class MergeServiceAdapter:
    """The merge service as a model. The text of the answer is the JSON of the service."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._limit = min(MAX_REQUEST_SECONDS, timeouts.total)

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Post the text of the last turn, which `build_service_request` has built. Raises `LLMError`."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._limit):
                text = await self._post(request.turns[-1].text)
        except TimeoutError as error:
            raise LLMError("timeout_total", f"The merge service did not answer within {self._limit:g} s.") from error
        except HostRefused as refused:
            raise LLMError("host_refused", refused.message) from refused
        except aiohttp.ClientError as error:
            text = redact(f"The merge service cannot be reached: {error}", self._endpoint.key)
            raise LLMError("unreachable", text, retryable=True) from error
        took = loop.time() - started
        yield Answer(text, "", (), Usage(cost_micro=0), "stop", SERVICE_NAME, first_token_s=took, seconds=took)

    async def _post(self, body: str) -> str:
        target = check_url(self._endpoint.api_base or "", any_host=True)
        id = f"msg_{json.loads(body)['id']}"
        try:
            headers = build_signature_headers(self._endpoint.key, id=id, at=int(time.time()), body=body.encode())
        except ValueError as error:
            raise LLMError(
                "bad_request", "MERGE_SERVICE_SECRET is not base64, with or without whsec_ before it."
            ) from error
        headers["Content-Type"] = "application/json"
        async with get_session_for(target).post(
            target.url, data=body.encode(), headers=headers, allow_redirects=False
        ) as response:
            response_body = await read_capped(response, MAX_BODY_BYTES + 1)
            if response.status != 200:
                raise build_status_error(response.status, response.headers, response_body, self._endpoint.key)
        if len(response_body) > MAX_BODY_BYTES:
            raise LLMError("garbled", "The merge service's answer is too large.")
        try:
            text = response_body.decode()
            json.loads(text)
        except ValueError as error:
            raise LLMError("garbled", "The merge service's answer is no JSON.") from error
        return text
