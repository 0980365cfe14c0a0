"""What a tool is: a class. Who may use it, and whether a person is asked first, is data elsewhere."""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common.text import storable
from events.payloads import WebPageData

if TYPE_CHECKING:
    from actors.models import Actor

Effect = Literal["read", "write"]

DEFAULT_TIMEOUT = 30.0
MAX_TIMEOUT = 120.0
MAX_ARGUMENTS = 250_000
"""Characters. Longer arguments are cut for storing, and refused (RUN12)."""


class ToolArgs(BaseModel):
    """The arguments of a tool, checked strictly: nothing is guessed and nothing unknown is ignored (RUN12)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ToolConfig(BaseModel):
    """How an agent uses a tool: its `custom_config` over these defaults. A tool may add fields of its own.

    `retries`: how often a call that failed by `ToolError` is tried again. `timeout_s`: seconds of one try (RUN13).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    retries: int = Field(default=0, ge=0, le=3)
    timeout_s: float = Field(default=DEFAULT_TIMEOUT, gt=0, le=MAX_TIMEOUT)


async def nobody_named(url: str) -> bool:
    """Where nobody can have named an address, none is open."""
    return False


async def unknown_authors() -> "Sequence[Actor]":
    """Refuse every write: it is not known what was read."""
    raise ToolError("It was not done: it is not known whose words were read.", final=True)


@dataclass(frozen=True)
class ToolContext:
    """For whom a call is made. `call_id` is the key under which a tool outside our house may recognise a repetition.

    `is_named` says whether an address may be opened: somebody named it, the model did not make it up (SEC9).
    `find_authors` gives the people whose words the run may have read, or raises `ToolError`; the toolbox asks it before each
    call of a tool that writes, which gets them as `authors` and does only what all of them may do (FAIR8).
    """

    actor: "Actor"
    on_behalf_of: "Actor | None"
    chat_id: UUID | None
    run_id: UUID
    call_id: str
    config: ToolConfig = field(default_factory=ToolConfig)
    is_named: Callable[[str], Awaitable[bool]] = nobody_named
    find_authors: "Callable[[], Awaitable[Sequence[Actor]]]" = unknown_authors
    authors: "Sequence[Actor]" = ()


@dataclass(frozen=True)
class ToolOutput:
    """What a tool returns: `text` for the model, and `data` for the screen where it draws more than the text."""

    text: str
    data: WebPageData | None = None


class ToolError(Exception):
    """The tool could not do it, for a reason that the model can read and act on. `final`: trying again is no use."""

    def __init__(self, text: str, *, final: bool = False) -> None:
        super().__init__(text)
        self.is_final = final


class Tool:
    """One tool. The docstring is what the model reads.

    `run(ctx, args) -> str` is an ordinary function when it touches our database only: it is called in one transaction.
    It is a coroutine when it calls another server: no transaction and no connection is held meanwhile. A coroutine may
    return a `ToolOutput`.
    `effect` is `read` when calling it changes nothing. `repeatable`: it may be called again when a crash leaves it
    unknown whether it was done (RUN15); reading always may. `is_trusted`: its results are our own words, nobody else's.
    """

    name: ClassVar[str]
    effect: ClassVar[Effect]
    repeatable: ClassVar[bool] = False
    is_trusted: ClassVar[bool] = False
    Args: ClassVar[type[ToolArgs]]
    Config: ClassVar[type[ToolConfig]] = ToolConfig
    run: Callable[..., Any]

    @property
    def description(self) -> str:
        """What the model reads about it."""
        return inspect.getdoc(type(self)) or ""

    @property
    def is_async(self) -> bool:
        return inspect.iscoroutinefunction(self.run)

    @property
    def may_repeat(self) -> bool:
        return self.repeatable or self.effect == "read"

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, without the titles that only cost tokens."""
        return deepcopy(_schema_of(self.Args))

    def parse_arguments(self, arguments: str) -> ToolArgs:
        """Return the arguments, checked strictly. No text counts as `{}`. Raises `ToolError` with what is wrong, for the model."""
        if len(arguments) > MAX_ARGUMENTS:
            raise ToolError(
                f"The arguments are too long: more than {MAX_ARGUMENTS:,} characters. The call was not made."
            )
        try:
            return self.Args.model_validate_json(arguments.strip() or "{}", strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False)
            # Each problem once: that of a list may be repeated for each of its items.
            problems = dict.fromkeys(f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}" for e in found)
            text = storable("; ".join(list(problems)[:5]))
            if len(text) > 1000:
                text = f"{text[:1000]}\n[cut: {len(text) - 1000:,} more characters]"
            raise ToolError(f"The call was not made, because its arguments are wrong. {text}") from error

    def config_schema(self) -> dict[str, Any]:
        """The JSON Schema of its settings, by which the workshop draws their fields."""
        schema = deepcopy(_schema_of(self.Config))
        schema.pop("description", None)
        return schema

    def configured(self, custom_config: dict[str, Any]) -> ToolConfig:
        """An agent's settings over the defaults. Raises `pydantic.ValidationError`."""
        return self.Config.model_validate(custom_config)


@cache
def _schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """Made once: Pydantic takes milliseconds for it, and every run needs it. Whoever passes it on hands out a copy."""
    schema: dict[str, Any] = _without_titles(shape.model_json_schema())
    return schema


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may itself be called "title": then it is a schema, not a text.
    return {k: _without_titles(v) for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
