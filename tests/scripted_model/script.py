"""Scripts: how the scripted model answers a request, and its answers without a script."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

Body = Mapping[str, Any]

INLINE = re.compile(r"<<script\s*(\{.*\})\s*>>", re.DOTALL)
"""A message may contain its own script: `<<script {"mode": "drip", "count": 50}>>`."""


@dataclass(frozen=True)
class Script:
    """One way to answer.

    `mode`: `plain`, `drip`, `stall`, `nofirst`, `slowdrip`, `cut`, `cleancut`, `halfline`, `badjson`, `badtool`,
    `errframe`, `status`, `echo`, `think`, `redirect`, `nodone`, `events`; `models` is for the
    list of models, with its entries. `first` and `every` are seconds; `rate` (tokens a
    second) is another way to say `every`; `after` is how many words come before a fault. `usage`: false, or the
    values that are reported instead. `calls` are `{"name", "arguments", "id",
    "index"}`; `orders` are those that `obey` knows, by name;
    `bad` names a fixture of `modes.bad_calls`. `events` are sent by the mode of that name, each with the keys `delta`, `finish`,
    `wait` (seconds after it), `raw` (a text that is sent as it is) and `abort` (the connection breaks); after them comes `[DONE]`.
    `body`: what `status` sends instead of an error in OpenAI's form, also with the status 200.
    `context_size`: a request of more tokens, at four characters each, is refused as llama.cpp does.
    `requires`: a field that each assistant message with calls must have, else the request is refused; `signature`: what is
    attached to the thinking or to the first call. `then` is the script after a tool's result.
    `match` (a part of the last user message), `system` (a part of the system text) and `model` say which requests it is
    for; `times` for how many of them, 0 meaning all.
    """

    mode: str = "plain"
    text: str = ""
    tokens: Sequence[str] = ()
    count: int = 0
    first: float = 0.0
    every: float = 0.0
    rate: float = 0.0
    after: int = 3
    thinking: str = ""
    calls: Sequence[Mapping[str, Any]] = ()
    bad: str = ""
    events: Sequence[Mapping[str, Any]] = ()
    requires: str = ""
    signature: str = ""
    status: int = 500
    retry_after: str | None = None
    error: str = "The scripted model fails as scripted."
    body: str = ""
    context_size: int = 0
    models: Sequence[Mapping[str, Any]] = ()
    echo_key: bool = False
    finish: str | None = None
    usage: bool | Mapping[str, Any] = True
    streams: bool = True
    then: Mapping[str, Any] = field(default_factory=dict)
    orders: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    match: str = ""
    system: str = ""
    model: str = ""
    times: int = 0

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Script":
        """Build a script from JSON. Raises for an unknown key, which is an error of the test."""
        known = {f.name for f in fields(cls)}
        if unknown := set(data) - known:
            raise ValueError(f"A script has no {sorted(unknown)}.")
        return cls(**dict(data))

    def fits(self, body: Body) -> bool:
        """Return whether the script is for this request."""
        return (
            self.match in last_user_text(body)
            and self.system in system_text(body)
            and self.model in ("", body.get("model"))
        )

    def words(self) -> list[str]:
        """Return the tokens to send."""
        if self.tokens:
            return list(self.tokens)
        if self.text:
            return re.findall(r"\s*\S+|\s+$", self.text)
        return [f"w{n} " for n in range(self.count or 5)]

    def pause(self) -> float:
        """Return the seconds between two tokens."""
        return 1 / self.rate if self.rate else self.every


def text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def system_text(body: Body) -> str:
    return "\n".join(text_of(m) for m in body.get("messages", []) if m["role"] in ("system", "developer"))


def last_user_text(body: Body) -> str:
    return next((text_of(m) for m in reversed(body.get("messages", [])) if m["role"] == "user"), "")


def answering_a_tool(body: Body) -> bool:
    messages = body.get("messages", [])
    return bool(messages) and messages[-1]["role"] == "tool"


def inline_script(body: Body) -> Script | None:
    found = INLINE.search(last_user_text(body))
    return Script.of(json.loads(found[1])) if found else None


def default_script(body: Body) -> Script:
    """Return the script for a request without one: call `current_time` for the time in Tokyo, repeat a tool's result, or echo."""
    tools = {tool.get("function", tool)["name"] for tool in body.get("tools", [])}
    question = last_user_text(body)
    if answering_a_tool(body):
        return Script(text=f"The tool says: {text_of(body['messages'][-1])}", every=0.002)
    if "current_time" in tools and re.search(r"time.*tokyo|東京|东京", question, re.IGNORECASE | re.DOTALL):
        return Script(calls=[{"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}])
    marker = system_text(body).strip()[:80] or "no prompt"
    return Script(text=f"Scripted answer. My prompt: {marker}. You said: {question[-200:]}", every=0.002)
