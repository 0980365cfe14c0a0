"""What an agent is made of: the whole spec as one value, the same in a version, in a draft and in the editor (S0.6, B6)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

MAX_PROMPT = 100_000


class Parameters(BaseModel):
    """How the model is asked; null leaves it to the provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1, le=200_000)


class Limits(BaseModel):
    """Where a run ends by itself: steps (requests to the model) and seconds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_steps: int = Field(default=10, ge=1, le=50)
    max_seconds: int = Field(default=1800, ge=5, le=3600)


class ToolUse(BaseModel):
    """How an agent uses one tool. `custom_config` is merged over the tool's defaults (S0.14)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool: str = Field(min_length=1, max_length=64, pattern=r"^[a-zA-Z0-9_-]+$")
    is_enabled: bool = True
    custom_config: dict[str, Any] = Field(default_factory=dict)
    usage_instructions: str = Field(default="", max_length=4_000)


class SpecContent(BaseModel):
    """A spec. `model` empty: the workspace's default model. Raises `ValidationError` for anything it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: str = Field(default="", max_length=MAX_PROMPT)
    model: str = Field(default="", max_length=200)
    parameters: Parameters = Parameters()
    limits: Limits = Limits()
    memory: Literal["chat", "agent"] = "chat"
    tools: tuple[ToolUse, ...] = Field(default=(), max_length=64)

    @field_validator("prompt")
    @classmethod
    def _no_nul(cls, prompt: str) -> str:
        # PostgreSQL stores no NUL in text or JSON.
        return prompt.replace("\x00", "")

    @field_validator("tools")
    @classmethod
    def _each_once(cls, tools: tuple[ToolUse, ...]) -> tuple[ToolUse, ...]:
        if len({use.tool for use in tools}) != len(tools):
            raise ValueError("Each tool can be listed once.")
        return tools

    def as_json(self) -> dict[str, Any]:
        """For a JSON column or a frame."""
        return self.model_dump(mode="json")
