"""Request the embeddings of texts: `POST {base}/embeddings` of OpenAI's protocol, through the client that checks addresses."""

import asyncio
import math
from dataclasses import dataclass
from typing import Any

import aiohttp
from pydantic_core import from_json

from common.egress import HostRefused, get_session_for, read_capped
from common.providers import get_provider
from llm.adapters.openai import build_connection_error, build_headers, build_path, get_base_url, get_target
from llm.errors import build_status_error
from llm.messages import ModelRequest, Turn, Usage
from llm.prices import build_embedding_usage
from llm.protocol import Endpoint, LLMError

CHAT_PATH = "chat/completions"
MAX_BODY_BYTES = 32 * 1024 * 1024
MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True)
class Embedded:
    """The embeddings of texts, in their order, and what they cost. `seconds`: how long the request took."""

    vectors: list[list[float]]
    usage: Usage
    seconds: float


def build_embedding_request(model: str, texts: list[str]) -> ModelRequest:
    """Return a request for embeddings in the form of a request for an answer, from which its tokens and cost are estimated."""
    return ModelRequest(model, [Turn("user", text) for text in texts], parameters={"max_tokens": 1})


async def embed_texts(endpoint: Endpoint, model: str, texts: list[str], *, seconds: float) -> Embedded:
    """Request the embeddings of texts within so many seconds, once. Raises `LLMError`."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    try:
        async with asyncio.timeout(seconds):
            answer = await _post(endpoint, model, texts)
    except TimeoutError as error:
        raise LLMError("timeout_total", f"The server did not answer within {seconds:g} s.", retryable=True) from error
    except HostRefused as refused:
        raise LLMError("host_refused", refused.message) from refused
    except (aiohttp.ClientError, OSError) as error:
        raise build_connection_error(error, get_base_url(endpoint), endpoint.key) from error
    vectors = _read_vectors(answer, len(texts))
    usage = build_embedding_usage(endpoint, build_embedding_request(model, texts), answer.get("usage"))
    return Embedded(vectors, usage, loop.time() - started)


async def _post(endpoint: Endpoint, model: str, texts: list[str]) -> dict[str, Any]:
    path = build_path(endpoint, model, get_provider(endpoint.provider).path.replace(CHAT_PATH, "embeddings"))
    target = get_target(endpoint, path)
    body = {"model": model, "input": texts, "encoding_format": "float"}
    async with get_session_for(target).post(
        target.url, json=body, headers=build_headers(endpoint), allow_redirects=False
    ) as response:
        if response.status != 200:
            error = await read_capped(response, MAX_ERROR_BYTES)
            raise build_status_error(response.status, response.headers, error, endpoint.key)
        content = await read_capped(response, MAX_BODY_BYTES)
    try:
        answer = from_json(content)
    except ValueError as error:
        raise LLMError("garbled", "The server's answer is no JSON.", retryable=True) from error
    return answer if isinstance(answer, dict) else {}


def _read_vectors(answer: dict[str, Any], count: int) -> list[list[float]]:
    try:
        found = {entry["index"]: [float(number) for number in entry["embedding"]] for entry in answer["data"]}
        vectors = [found[index] for index in range(count)]
    except (KeyError, TypeError, ValueError) as error:
        raise LLMError("garbled", "The server's answer has not the embeddings that were requested.") from error
    # All vectors must have one length and finite numbers. A vector of zeros has no direction, so it cannot be compared.
    if not all(
        len(vector) == len(vectors[0]) and all(map(math.isfinite, vector)) and any(vector) for vector in vectors
    ):
        raise LLMError("garbled", "The server's embeddings cannot be compared with each other.")
    return vectors
