"""The base class of tools. Which agents may use a tool, and whether a person approves its calls, is stored with the agent."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common.text import to_storable
from events.payloads import WebPageData

if TYPE_CHECKING:
    from actors.models import Actor

Effect = Literal["read", "write"]

DEFAULT_TIMEOUT_SECONDS = 30.0
MAX_TIMEOUT_SECONDS = 120.0
MAX_ARGUMENT_CHARACTERS = 250_000
"""Characters. Longer arguments are refused, and cut before they are stored (RUN12)."""


class ToolArgs(BaseModel):
    """The arguments of a tool, checked strictly: nothing is guessed and nothing unknown is ignored (RUN12)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ToolConfig(BaseModel):
    """How an agent uses a tool: its `custom_config` over these defaults. A tool may add fields of its own.

    `retries`: how often a call that failed by `ToolError` is tried again. `timeout_s`: seconds of one try (RUN13).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    retries: int = Field(default=0, ge=0, le=3)
    timeout_s: float = Field(default=DEFAULT_TIMEOUT_SECONDS, gt=0, le=MAX_TIMEOUT_SECONDS)


async def allow_no_url(url: str) -> bool:
    """Allow no address. The default, for calls outside a chat."""
    return False


async def deny_writes() -> "Sequence[Actor]":
    """Refuse every write, because it is not known whose texts were read."""
    raise ToolError("It was not done: it is not known whose words were read.", final=True)


@dataclass(frozen=True)
class ToolContext:
    """The context of a call. `call_id` is the key by which an external service can recognise a repeated call.

    `is_url_allowed` returns whether an address may be opened: it is in a text that was read, the model did not invent it (SEC9).
    `find_authors` returns the people whose texts the run may have read, or raises `ToolError`. The toolbox calls it before each
    call of a tool that writes. The tool gets them as `authors` and does only what all of them may do (FAIR8).
    """

    actor: "Actor"
    on_behalf_of: "Actor | None"
    chat_id: UUID | None
    run_id: UUID
    call_id: str
    config: ToolConfig = field(default_factory=ToolConfig)
    is_url_allowed: Callable[[str], Awaitable[bool]] = allow_no_url
    find_authors: "Callable[[], Awaitable[Sequence[Actor]]]" = deny_writes
    authors: "Sequence[Actor]" = ()


@dataclass(frozen=True)
class ToolOutput:
    """The result of a tool: `text` for the model, and `data` for the web app if it draws more than the text."""

    text: str
    data: WebPageData | None = None


class ToolError(Exception):
    """The call failed for a reason that the model can read and act on. `final`: a repeated call cannot help."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.is_final = final


class Tool:
    """A tool. Its docstring is the description that the model reads.

    `run(ctx, args) -> str` is an ordinary function if it uses only our database: it is called in one transaction.
    It is a coroutine if it calls another server: no transaction and no connection is open during the call. A coroutine may
    return a `ToolOutput`.
    `effect` is `read` if a call changes nothing. `is_idempotent`: a call may be repeated after a crash that left its outcome
    unknown (RUN15); a tool that reads always may. `is_trusted`: its results contain no text of people or of other servers.
    """

    name: ClassVar[str]
    effect: ClassVar[Effect]
    is_idempotent: ClassVar[bool] = False
    is_trusted: ClassVar[bool] = False
    Args: ClassVar[type[ToolArgs]]
    Config: ClassVar[type[ToolConfig]] = ToolConfig
    run: Callable[..., Any]

    @property
    def description(self) -> str:
        """Return the description that the model reads."""
        return inspect.getdoc(type(self)) or ""

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.run)

    @property
    def can_repeat(self) -> bool:
        return self.is_idempotent or self.effect == "read"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, without titles, which only cost tokens."""
        return deepcopy(_schema_of(self.Args))

    def parse_arguments(self, arguments: str) -> ToolArgs:
        """Return the validated arguments; an empty text counts as `{}`. Raises `ToolError` with the problems, for the model."""
        if len(arguments) > MAX_ARGUMENT_CHARACTERS:
            raise ToolError(
                f"The arguments are too long: more than {MAX_ARGUMENT_CHARACTERS:,} characters. The call was not made."
            )
        try:
            return self.Args.model_validate_json(arguments.strip() or "{}", strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False)
            # Each problem once: that of a list may be repeated for each of its items.
            problems = dict.fromkeys(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in found)
            text = to_storable("; ".join(list(problems)[:5]))
            if len(text) > 1000:
                text = f"{text[:1000]}\n[cut: {len(text) - 1000:,} more characters]"
            raise ToolError(f"The call was not made, because its arguments are wrong. {text}") from error

    def config_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its settings, from which the workshop draws their fields."""
        schema = deepcopy(_schema_of(self.Config))
        schema.pop("description", None)
        return schema

    def parse_config(self, custom_config: dict[str, Any]) -> ToolConfig:
        """Return an agent's settings over the defaults. Raises `pydantic.ValidationError`."""
        return self.Config.model_validate(custom_config)


@cache
def _schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema, computed once: it takes Pydantic milliseconds, and every run needs it. Callers copy it."""
    schema: dict[str, Any] = _without_titles(model.model_json_schema())
    return schema


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may itself be called "title": then it is a schema, not a text.
    return {k: _without_titles(v) for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
