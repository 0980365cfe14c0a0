"""The adapter of providers that do not speak OpenAI's protocol. Only this module imports litellm, when it is first needed.

It makes up for errors of litellm: a stream that breaks off looks like success; time limits are not kept; requests are
retried; with an empty key, litellm looks for one in the environment; and closing its stream early leaves the connection open.
litellm never gets an address that a tenant wrote, and it sends requests only through our client.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from common.egress import HostRefused
from common.errors import Invalid
from common.providers import get_provider
from llm.adapters.assembly import Assembly, build_cut_error, normalize_finish
from llm.adapters.openai_format import build_messages, build_tool_choice, build_tools
from llm.errors import build_exception_error, explain_no_tools, iter_causes
from llm.messages import Answer, Chunk, ModelRequest
from llm.prices import build_usage
from llm.protocol import Endpoint, LLMError, Timeouts, build_origin
from llm.timeouts import Deadlines

CLOSE_SECONDS = 2.0
"""Seconds to wait until a stream is closed."""
_PARAMETERS = frozenset({"temperature", "top_p", "max_tokens", "stop", "presence_penalty", "frequency_penalty", "seed"})
_AMBIENT_IDENTITY = ("AWS_ROLE_NAME", "AWS_PROFILE_NAME", "AWS_WEB_IDENTITY_TOKEN", "AWS_BEDROCK_RUNTIME_ENDPOINT")
"""Environment variables by which litellm would send a tenant's request to Bedrock with our identity, or to another address."""
_log = logging.getLogger(__name__)


class LiteLLMAdapter:
    """A model of an endpoint, asked through litellm."""

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self._endpoint = endpoint
        self._timeouts = timeouts

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send one request. Raises `LLMError`. Closing the generator closes the connection to the provider at once (RUN16)."""
        # Imported before the time limits of the request begin, because the import takes seconds.
        litellm = await asyncio.to_thread(_import_litellm)
        assembly, deadlines, usage = Assembly(), Deadlines(self._timeouts), None
        stream: Any = None
        try:
            async with deadlines.limit_time():
                stream = await litellm.acompletion(**self._build_parameters(request))
            events = aiter(stream)
            while True:
                async with deadlines.limit_time():
                    event = await anext(events, None)
                if event is None:
                    break
                for chunk in _read_chunks(assembly, event):
                    deadlines.pause()
                    yield chunk
                if reported := getattr(event, "usage", None):
                    usage = reported.model_dump()
                if assembly.is_too_long:
                    break
            yield self._build_answer(request, assembly, stream, usage, deadlines)
        except LLMError as error:
            raise self._add_partial(error, request, assembly, usage, deadlines) from error.__cause__
        except Exception as error:  # litellm raises the exceptions of many client libraries
            known = self._to_llm_error(error, began=stream is not None)
            raise self._add_partial(known, request, assembly, usage, deadlines) from error
        finally:
            assembly.release()
            if stream is not None:
                await _close_stream(stream)

    def _build_parameters(self, request: ModelRequest) -> dict[str, Any]:
        key = self._endpoint.key.reveal()
        if not key:
            raise LLMError("refused", "There is no key for this provider.")
        parameters = {name: value for name, value in request.parameters.items() if name in _PARAMETERS}
        parameters |= {"model": self._build_model_name(request.model)} | self._get_provider_parameters(key)
        if request.tools:
            parameters["tools"] = deepcopy(build_tools(request))  # litellm changes them
        if request.tool_choice:
            parameters["tool_choice"] = build_tool_choice(request)
        return parameters | {
            "messages": _build_messages(request, self._build_origin(request)),
            "client": _build_client(any_host=self._endpoint.paid_by == "system"),
            "stream": True,
            "stream_options": {"include_usage": True},
            "num_retries": 0,
            "max_retries": 0,
            "timeout": self._timeouts.total,
            # Otherwise litellm imports a package of its proxy for requests with tools.
            "_skip_mcp_handler": True,
        }

    def _build_model_name(self, model: str) -> str:
        """Return the name by which litellm knows the model. Raises `LLMError` for a model that the provider cannot have
        (`bad_request`), and for an endpoint with an address of its own (`host_refused`)."""
        if self._endpoint.api_base:
            raise LLMError("host_refused", "This provider is reached at its own address only.")
        provider = get_provider(self._endpoint.provider)
        if not provider.is_model_name(model):
            raise LLMError("bad_request", f"{provider.label} has no model of that name.")
        return f"{provider.model_prefix}{model}"

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        """Return the key, the options and the fixed parameters of the provider, each under the parameter name that litellm expects.
        Raises `LLMError` (`bad_request`)."""
        provider, options = get_provider(self._endpoint.provider), self._endpoint.options
        try:
            provider.check_options(options)
        except Invalid as error:
            raise LLMError("bad_request", error.message) from error
        return {field.parameter: key if field.name == "key" else options[field.name] for field in provider.fields} | {
            name: value.format_map(options) for name, value in provider.litellm_parameters.items()
        }

    def _to_llm_error(self, error: Exception, *, began: bool) -> LLMError:
        """Return the error for an exception of litellm. Our own time limits (`Deadlines`) are `LLMError`s already."""
        if isinstance(error, TimeoutError):
            return LLMError("unreachable", "The model's server cannot be reached in time.", retryable=True)
        if refused := next((cause for cause in iter_causes(error) if isinstance(cause, HostRefused)), None):
            return LLMError("host_refused", refused.message)
        return build_exception_error(error, self._endpoint.key, began=began)

    def _add_partial(
        self,
        error: LLMError,
        request: ModelRequest,
        assembly: Assembly,
        usage: Mapping[str, Any] | None,
        deadlines: Deadlines,
    ) -> LLMError:
        error.partial_text, error.partial_thinking = assembly.text, assembly.thinking
        if deadlines.first_token_s is not None:
            error.usage = build_usage(self._endpoint, request, usage, assembly)
        return explain_no_tools(error, request)

    def _build_answer(
        self,
        request: ModelRequest,
        assembly: Assembly,
        stream: Any,
        usage: Mapping[str, Any] | None,
        deadlines: Deadlines,
    ) -> Answer:
        # Not the reason in the events: litellm adds a "stop" to a stream that broke off. The second one is the reason in an event
        # with text or a call, as Gemini sends it.
        reported = stream.received_finish_reason or stream.intermittent_finish_reason
        finish = "length" if assembly.is_too_long else reported
        if finish is None:
            raise build_cut_error()
        calls = assembly.build_calls()
        origin = self._build_origin(request)
        return Answer(
            text=assembly.text,
            thinking=assembly.thinking,
            calls=calls,
            usage=build_usage(self._endpoint, request, usage, assembly),
            finish=normalize_finish(finish, has_calls=bool(calls)),
            model=request.model,
            first_token_s=deadlines.first_token_s,
            seconds=deadlines.seconds,
            provider_fields=assembly.build_provider_fields(origin) if calls else None,
        )

    def _build_origin(self, request: ModelRequest) -> str:
        return build_origin(self._endpoint, request.model)


@cache
def _import_litellm() -> Any:
    """Return litellm, configured without a price list from the network, `.env` files, telemetry and callbacks."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    for name in _AMBIENT_IDENTITY:
        os.environ.pop(name, None)
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.disable_streaming_logging = True
    litellm.callbacks = litellm.success_callback = litellm.failure_callback = []
    return litellm


@cache
def _build_client(*, any_host: bool) -> Any:
    """Return litellm's HTTP client. It sends requests through the sessions of the running event loop (`get_session_for`)."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler

    from llm.adapters.litellm_transport import GuardedTransport

    return AsyncHTTPHandler(transport=GuardedTransport(any_host=any_host), follow_redirects=False)


def _build_messages(request: ModelRequest, origin: str) -> list[dict[str, Any]]:
    """Return the turns as messages. litellm expects the signatures of an answer in a field of their own."""
    messages = build_messages(request, origin)
    for message in messages:
        if signatures := message.pop("thought_signatures", None):
            message["provider_specific_fields"] = {"thought_signatures": signatures}
    return messages


def _read_chunks(assembly: Assembly, event: Any) -> list[Chunk]:
    if not event.choices:
        return []
    delta = event.choices[0].delta
    chunks: list[Chunk | None] = []
    if thinking := getattr(delta, "reasoning_content", None):
        chunks.append(assembly.add_thinking(thinking))
    # Anthropic and Bedrock sign their thinking, Gemini its parts; litellm sends both back.
    fields = getattr(delta, "provider_specific_fields", None) or {}
    assembly.add_message_fields(
        {
            "thinking_blocks": getattr(delta, "thinking_blocks", None),
            "thought_signatures": fields.get("thought_signatures"),
        }
    )
    if delta.content:
        chunks.append(assembly.add_text(delta.content))
    for call in delta.tool_calls or ():
        chunks.append(assembly.add_call(call.model_dump()))
    return [chunk for chunk in chunks if chunk is not None]


async def _close_stream(stream: Any) -> None:
    """Close the connection, also while this task is being cancelled. Wait at most `CLOSE_SECONDS`."""
    closing = asyncio.ensure_future(stream.aclose())
    try:
        await asyncio.wait_for(asyncio.shield(closing), CLOSE_SECONDS)
    except Exception:  # noqa: BLE001  # the answer is complete, or another error is being raised
        _log.debug("A litellm stream did not close.", exc_info=True)
