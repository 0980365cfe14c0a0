"""What the demo model knows when it is asked: the prompt, the question, and what came of its calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.llm.demo.language import HAN, language_of
from agents.llm.demo.manner import Manner, manner_of
from agents.llm.exchange import Request, ToolCall, ToolSchema, Turn

# How the conversation is framed for every model (`agents.runtime.context.system_text`).
_FRAME = re.compile(r"(?:^|\n\n)You are (?P<name>[^\n]+?) \(@[^)\s]+\), an agent in ")
_SPEAKER = re.compile(r"^[^\n:：]{1,60}: ")
_CROWDED = "Messages of others begin with the name"


@dataclass(frozen=True)
class Situation:
    """One question to the demo model. `results` are those of the calls it made since the question."""

    prompt: str
    name: str
    question: str
    language: str
    manner: Manner
    tools: Sequence[ToolSchema]
    results: Sequence[tuple[ToolCall, str]]
    said: Sequence[str]
    """What others said in this chat, oldest first, the question included."""
    is_first: bool
    """Has it not answered here before?"""

    def tool(self, name: str) -> ToolSchema | None:
        """The tool of that name, if the agent has it."""
        return next((tool for tool in self.tools if tool.name == name), None)


def situation_of(request: Request) -> Situation:
    """Reads a request."""
    system = "\n\n".join(turn.text for turn in request.turns if turn.role == "system")
    prompt, name = _prompt_and_name(system)
    said = [_without_speaker(turn.text, crowded=_CROWDED in system) for turn in request.turns if turn.role == "user"]
    question = re.sub(r"(?<!\S)@[\w-]+[:,，]?\s*", "", said[-1]).strip() if said else ""
    manner = manner_of(question, manner_of(prompt))
    return Situation(
        prompt=prompt,
        name=name,
        question=question,
        language=_language(manner, question, prompt),
        manner=manner,
        tools=request.tools,
        results=_results(request.turns),
        said=said,
        is_first=all(turn.role != "assistant" or not turn.text for turn in request.turns),
    )


def _prompt_and_name(system: str) -> tuple[str, str]:
    frames = list(_FRAME.finditer(system))
    if not frames:
        return system.strip(), "the demo model"
    return system[: frames[-1].start()].strip(), frames[-1]["name"]


def _without_speaker(text: str, *, crowded: bool) -> str:
    return _SPEAKER.sub("", text, count=1) if crowded else text


def _language(manner: Manner, question: str, prompt: str) -> str:
    """What the instructions say, else the language of the question; which Chinese, when only "Chinese" was said."""
    usual = language_of(prompt, otherwise="zh-hant") if HAN.search(prompt) else "zh-hant"
    if manner.language == "zh":
        return language_of(question, otherwise=usual) if HAN.search(question) else usual
    return manner.language or language_of(question, otherwise=usual)


def _results(turns: Sequence[Turn]) -> list[tuple[ToolCall, str]]:
    """The calls since the last message of somebody else, each with its result."""
    last = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=-1)
    recent = turns[last + 1 :]
    results = {turn.call_id: turn.text for turn in recent if turn.role == "tool"}
    return [(call, results[call.id]) for turn in recent for call in turn.calls if call.id in results]
