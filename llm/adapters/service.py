"""A service of the operator's that merges suggestions, asked as a model is: one signed POST, one JSON answer.

The signature is that of Standard Webhooks (https://www.standardwebhooks.com), so that a service can check it with any of
their libraries. The request and the answer are described in docs/suggestions.md.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from uuid import UUID

import aiohttp

from common.egress import HostRefused, check_url, read_capped, session_for
from common.secrets import Secret
from llm.errors import error_of_status
from llm.messages import Answer, Chunk, Request, Usage
from llm.protocol import Endpoint, LLMError, Timeouts
from llm.scrubbing import scrubbed

SERVICE_NAME = "merge service"
"""What the ledger calls it."""
SECONDS = 60.0
MAX_BODY = 2 * 1024 * 1024
PREFIX = "whsec_"


def asked_of_service(id: UUID, kind: str, input: Mapping[str, Any]) -> str:
    """What is posted, as JSON. `id` stays the same when it is asked again."""
    return json.dumps({"id": str(id), "type": kind, "input": input}, ensure_ascii=False)


class ServiceWire:
    """The service behind an endpoint. Its answer's text is the JSON that it answered with."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._limit = min(SECONDS, timeouts.total)

    async def ask(self, request: Request) -> AsyncGenerator[Chunk | Answer, None]:
        """Post the last turn, which is from `asked_of_service`. Raises `LLMError`."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self._limit):
                text = await self._posted(request.turns[-1].text)
        except TimeoutError as error:
            raise LLMError("timeout_total", f"The merge service did not answer within {self._limit:g} s.") from error
        except HostRefused as refused:
            raise LLMError("host_refused", refused.message) from refused
        except aiohttp.ClientError as error:
            said = scrubbed(f"The merge service cannot be reached: {error}", self._endpoint.key)
            raise LLMError("unreachable", said, retryable=True) from error
        took = loop.time() - started
        yield Answer(text, "", (), Usage(cost_micro=0), "stop", SERVICE_NAME, first_token_s=took, seconds=took)

    async def _posted(self, body: str) -> str:
        target = check_url(self._endpoint.api_base or "", any_host=True)
        id = f"msg_{json.loads(body)['id']}"
        headers = {"Content-Type": "application/json"} | signed(body, self._endpoint.key, id=id, at=int(time.time()))
        async with session_for(target).post(
            target.url, data=body.encode(), headers=headers, allow_redirects=False
        ) as response:
            answered = await read_capped(response, MAX_BODY + 1)
            if response.status != 200:
                raise error_of_status(response.status, response.headers, answered, self._endpoint.key)
        return _checked(answered)


def signed(body: str, secret: Secret, *, id: str, at: int) -> dict[str, str]:
    """The headers of Standard Webhooks for a message, signed `at` this second."""
    mac = hmac.new(_key(secret), f"{id}.{at}.{body}".encode(), hashlib.sha256)
    signature = base64.b64encode(mac.digest()).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": f"v1,{signature}"}


def _key(secret: Secret) -> bytes:
    try:
        return base64.b64decode(secret.reveal().removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise LLMError(
            "bad_request", "MERGE_SERVICE_SECRET is not base64, with or without whsec_ before it."
        ) from error


def _checked(answered: bytes) -> str:
    if len(answered) > MAX_BODY:
        raise LLMError("garbled", "The merge service's answer is too large.")
    try:
        text = answered.decode()
        json.loads(text)
    except ValueError as error:
        raise LLMError("garbled", "The merge service's answer is no JSON.") from error
    return text
