"""The adapter of OpenAI's protocol: one POST, and a stream of server-sent events.

The CPU time per token limits how many runs a process can execute. So no client library is used, one timer limits a whole
request, and each event is parsed once.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

import aiohttp
from yarl import URL

from common.bounded import BoundedMap
from common.egress import (
    HostRefused,
    Target,
    check_model_server,
    check_url,
    format_host_and_port,
    get_session_for,
    list_model_hosts,
    read_capped,
)
from common.providers import get_provider
from common.secrets import Secret
from llm.adapters.assembly import build_cut_error, normalize_finish
from llm.adapters.openai_format import THINKING_FIELD, build_messages, build_tool_choice, build_tools
from llm.adapters.openai_stream import OpenAIStream
from llm.errors import build_status_error, explain_no_tools, find_refused_tool, redact
from llm.messages import Answer, Chunk, ModelRequest
from llm.prices import build_usage
from llm.protocol import Endpoint, LLMError, Timeouts, build_origin
from llm.timeouts import RequestTimer, build_timeout_error

SECONDS_AFTER_FINISH = 2.0
"""Seconds without text or a call, after a finish reason, after which the answer is complete, although its stream has not ended."""
SECONDS_AFTER_DONE = 0.1
"""Seconds that a server has after `[DONE]` to end the stream, so that the connection can be reused."""
MAX_ERROR_BODY = 64 * 1024
_OWN_FIELDS = frozenset(
    {"model", "messages", "tools", "tool_choice", "response_format", "stream", "stream_options", "n"}
)

MAX_LEARNT = 1024
"""Servers or models of which a property is kept. Tenants choose their names; one that is forgotten is learnt again."""


_without_usage: BoundedMap[str, bool] = BoundedMap(MAX_LEARNT)
"""Base URLs of servers that refused `stream_options`."""
_requiring_thinking: BoundedMap[str, bool] = BoundedMap(MAX_LEARNT)
"""The models (`build_origin`) that send their thinking, or refused an assistant message with calls and without thinking."""
_refused_tools: BoundedMap[str, dict[tuple[str, str], str]] = BoundedMap(MAX_LEARNT)
"""By model (`build_origin`), why it does not accept a tool, by the name and the schema of the tool."""
MAX_REFUSED_TOOLS = 64


@dataclass
class Requirements:
    """What a model accepts of a request, as far as it is known: whether `stream_options`, whether messages with calls only with
    thinking, and which tools it does not accept, each with the reason."""

    base: str
    origin: str
    is_without_usage: bool
    requires_thinking: bool
    refused_tools: dict[tuple[str, str], str]

    @classmethod
    def find(cls, endpoint: Endpoint, model: str) -> Self:
        """Return what is remembered of a model of the endpoint."""
        base, origin = get_base_url(endpoint), build_origin(endpoint, model)
        is_without_usage, requires_thinking = _without_usage.get(base, False), _requiring_thinking.get(origin, False)
        return cls(base, origin, is_without_usage, requires_thinking, dict(_refused_tools.get(origin, {})))

    def find_left_out_tools(self, request: ModelRequest) -> dict[str, str]:
        """Return the tools of the request that the model does not accept, each with the reason."""
        found = {tool.name: self.refused_tools.get((tool.name, str(tool.parameters))) for tool in request.tools}
        return {name: reason for name, reason in found.items() if reason is not None}

    def learn(self, error: LLMError, sent: ModelRequest) -> bool:
        """Take from an error what the model refuses of the request that was sent. Return whether to send it without that."""
        if error.code != "bad_request":
            return False
        # First: the schema of a tool may have the name of a field.
        if (name := find_refused_tool(error, sent)) is not None:
            # Only this tool is left out.
            [tool] = [tool for tool in sent.tools if tool.name == name]
            self.refused_tools[name, str(tool.parameters)] = error.message
        elif not self.is_without_usage and "stream_options" in error.message:
            self.is_without_usage = True
        elif not self.requires_thinking and THINKING_FIELD in error.message:
            self.requires_thinking = True
        else:
            return False
        return True

    def remember(self) -> None:
        """Remember it for later requests, also of other tenants."""
        if self.is_without_usage:
            _without_usage.set(self.base, True)
        if self.requires_thinking:
            _requiring_thinking.set(self.origin, True)
        if self.refused_tools:
            refused = _refused_tools.get(self.origin, {}) | self.refused_tools
            _refused_tools.set(self.origin, dict(list(refused.items())[-MAX_REFUSED_TOOLS:]))


def get_base_url(endpoint: Endpoint) -> str:
    """Return the base URL of the endpoint's server."""
    return (endpoint.api_base or get_provider(endpoint.provider).api_base).rstrip("/")


def build_headers(endpoint: Endpoint) -> dict[str, str]:
    """Return the header with the key; none without a key."""
    if not endpoint.key:
        return {}
    name = get_provider(endpoint.provider).key_header
    return {name: f"Bearer {endpoint.key.reveal()}" if name == "Authorization" else endpoint.key.reveal()}


def get_target(endpoint: Endpoint, path: str) -> Target:
    """Return the checked URL of `path` at the endpoint's server. Raises `LLMError` (`host_refused`)."""
    base = get_base_url(endpoint)
    try:
        if endpoint.paid_by != "system":
            check_model_server(base)
        return check_url(f"{base}/{path}", list_model_hosts(), any_host=endpoint.paid_by == "system")
    except HostRefused as refused:
        raise LLMError("host_refused", " ".join([refused.message, *refused.hints])) from refused


def build_path(endpoint: Endpoint, model: str, path: str) -> str:
    """Return a path below the base URL for a model, with the query. Raises `LLMError` (`bad_request`)."""
    provider, options = get_provider(endpoint.provider), endpoint.options
    if not provider.is_model_name(model):
        raise LLMError("bad_request", f"{provider.label} has no {provider.model_label} of that name.")
    query = {name: options[option] for name, option in provider.query.items() if options.get(option)}
    return path.format(model=model) + (f"?{urlencode(query)}" if query else "")


def build_connection_error(error: Exception, base: str, key: Secret) -> LLMError:
    """Return the error for a connection that failed, in words that name the server of the base URL."""
    server = format_host_and_port(URL(base))
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        text = f"There is no server of the name {URL(base).host}."
    elif isinstance(error, aiohttp.ClientSSLError):
        text = f"No secure connection to {server} is possible: {error}"
    elif isinstance(error, aiohttp.ClientConnectorError | TimeoutError):
        text = f"Nothing answers at {server}."
    elif isinstance(error, aiohttp.ServerDisconnectedError | ConnectionError):
        text = f"The server at {server} closed the connection without an answer."
    else:
        text = f"The model's server cannot be reached: {error}"
    return LLMError("unreachable", redact(text, key), retryable=True)


class OpenAIAdapter:
    """A model of an endpoint that has `POST {base}/chat/completions`."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts
        self._provider = get_provider(endpoint.provider)
        self._base = get_base_url(endpoint)
        self._left_out: dict[str, str] = {}
        """The tools that the last request was sent without, and why."""

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send one request. Raises `LLMError`. Closing the generator closes the connection to the provider at once (RUN16)."""
        started = asyncio.get_running_loop().time()
        response = await self._open_stream(request, started)
        stream = OpenAIStream(self._endpoint.key)
        timer = RequestTimer(self._timeouts, response.close, started=started)
        try:
            data, last_part = b" ", "thinking"
            while data and not stream.assembly.is_too_long:
                data = await self._read_bytes(response, stream, timer)
                for chunk in stream.read_bytes(data) if data else stream.finish():
                    timer.pause()
                    last_part = chunk.part
                    yield chunk
                if stream.done:
                    timer.resume_for_tail(SECONDS_AFTER_DONE)
                elif stream.assembly.finish is None:
                    timer.resume()
                else:
                    # After thinking, the text is still to come.
                    timer.resume_for_tail(self._timeouts.idle if last_part == "thinking" else SECONDS_AFTER_FINISH)
            if stream.thinking_field == THINKING_FIELD:
                _requiring_thinking.set(build_origin(self._endpoint, request.model), True)
            yield self._build_answer(request, stream, timer)
        except LLMError as error:
            error.partial_text, error.partial_thinking = stream.assembly.text, stream.assembly.thinking
            if timer.first_token_s is not None:
                error.usage = build_usage(self._endpoint, request, stream.usage, stream.assembly)
            raise explain_no_tools(error, request) from error.__cause__
        finally:
            timer.stop()
            stream.assembly.release()
            # No effect when the stream was read to its end: then the connection has returned to the pool.
            response.close()

    async def _open_stream(self, request: ModelRequest, started: float) -> aiohttp.ClientResponse:
        """Send the request and return a response with status 200. What the model refuses of it is left out. That is remembered only
        once the rest was accepted, because an error may name a field for another reason. Raises `LLMError`."""
        requirements = Requirements.find(self._endpoint, request.model)
        while True:
            # Checked for every request: the host may have been public only when it was saved (SEC13).
            target = get_target(self._endpoint, build_path(self._endpoint, request.model, self._provider.path))
            self._left_out = requirements.find_left_out_tools(request)
            tools = [tool for tool in request.tools if tool.name not in self._left_out]
            sent = replace(request, tools=tools) if self._left_out else request
            response = await self._post(target, self._build_body(sent, requirements))
            if response.status == 200:
                requirements.remember()
                return response
            error = await self._read_error(response)
            is_late = asyncio.get_running_loop().time() - started >= self._timeouts.total
            if is_late or not requirements.learn(error, sent):
                raise explain_no_tools(error, request)

    def _build_body(self, request: ModelRequest, requirements: Requirements) -> dict[str, Any]:
        body = {
            name: value for name, value in request.parameters.items() if name not in _OWN_FIELDS and value is not None
        }
        if "max_tokens" in body:
            body[self._provider.max_tokens_parameter] = body.pop("max_tokens")
        messages = build_messages(request, requirements.origin, requires_thinking=requirements.requires_thinking)
        body |= {"model": request.model, "messages": messages, "stream": True}
        if not requirements.is_without_usage:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = build_tools(request)
        if request.tool_choice:
            body["tool_choice"] = build_tool_choice(request)
        if request.wants_json:
            body["response_format"] = {"type": "json_object"}
        return body

    async def _post(self, target: Target, body: dict[str, Any]) -> aiohttp.ClientResponse:
        key = self._endpoint.key
        headers = {"Accept": "text/event-stream"} | build_headers(self._endpoint)
        limit = min(self._timeouts.first, self._timeouts.total)
        try:
            async with asyncio.timeout(limit):
                session = get_session_for(target)
                return await session.post(target.url, json=body, headers=headers, allow_redirects=False)
        except HostRefused as refused:
            raise LLMError("host_refused", refused.message) from refused
        except aiohttp.ClientError as error:
            raise build_connection_error(error, self._base, key) from error
        except TimeoutError as error:
            raise build_timeout_error("timeout_first", self._timeouts) from error

    async def _read_error(self, response: aiohttp.ClientResponse) -> LLMError:
        try:
            async with asyncio.timeout(self._timeouts.idle):
                body = await read_capped(response, MAX_ERROR_BODY)
        except (aiohttp.ClientError, TimeoutError):
            body = b""
        finally:
            response.close()
        return build_status_error(response.status, response.headers, body, self._endpoint.key)

    async def _read_bytes(self, response: aiohttp.ClientResponse, stream: OpenAIStream, timer: RequestTimer) -> bytes:
        """Return the next bytes, empty at the end. Raises `LLMError` if a limit is exceeded or the connection breaks before the end
        of the answer."""
        try:
            return await response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            if timeout := timer.get_error():
                raise timeout from None
            is_open = stream.assembly.finish is None or stream.goes_on_after_finish
            if is_open and not stream.done and not timer.is_complete:
                raise build_cut_error() from error
            return b""  # the connection broke, or was closed by the timer, after the complete answer

    def _build_answer(self, request: ModelRequest, stream: OpenAIStream, timer: RequestTimer) -> Answer:
        assembly = stream.assembly
        finish = "length" if assembly.is_too_long else assembly.finish
        if finish is None and stream.done:
            finish = "stop"  # some servers send no reason
        if finish is None:
            raise build_cut_error()
        calls = assembly.build_calls()
        return Answer(
            text=assembly.text,
            thinking=assembly.thinking,
            calls=calls,
            usage=build_usage(self._endpoint, request, stream.usage, assembly),
            finish=normalize_finish(finish, has_calls=bool(calls)),
            left_out_tools=self._left_out,
            model=stream.model or request.model,
            first_token_s=timer.first_token_s,
            seconds=timer.seconds,
            provider_fields=stream.build_provider_fields(build_origin(self._endpoint, request.model))
            if calls
            else None,
        )
