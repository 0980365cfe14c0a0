"""A model for tests of the loop, without a network: it answers by a script, and checks the conversation."""

from collections.abc import AsyncGenerator, Iterable, Sequence

from llm.messages import Answer, Chunk, ModelRequest, ToolCall, Turn, Usage
from llm.protocol import LLMError


class AskedTooEarly(AssertionError):
    """The conversation has a call without a result, which providers refuse."""


class ScriptedLLM:
    """Answers one after another; at its end it says "done". An `LLMError` in the script is raised, after its partial text."""

    def __init__(self, script: Iterable[Answer | LLMError] = ()) -> None:
        self._script = iter(script)
        self.requests: list[ModelRequest] = []

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        self.requests.append(request)
        if left := list_open_calls(request.turns):
            raise AskedTooEarly(f"The calls {left} have no answer.")
        answer = next(self._script, build_answer("done"))
        if isinstance(answer, LLMError):
            for word in answer.partial_text.split():
                yield Chunk("text", f"{word} ")
            raise answer
        for word in answer.text.split(" "):
            yield Chunk("text", f"{word} ")
        for call in answer.calls:
            yield Chunk("arguments", call.arguments, index=call.index, name=call.name)
        yield answer


def build_answer(text: str) -> Answer:
    """Return an answer without calls."""
    return Answer(text, "", (), Usage(10, len(text)), "stop", "scripted")


def build_calls(*calls: tuple[str, str], finish: str = "tool_calls", text: str = "") -> Answer:
    """Return an answer with calls: (name, arguments)."""
    made = tuple(ToolCall("", name, arguments, index=n) for n, (name, arguments) in enumerate(calls))
    return Answer(text, "", made, Usage(10, 5), finish, "scripted")


def list_open_calls(turns: Sequence[Turn]) -> list[str]:
    """Return the ids of calls that are not followed by exactly one result before the next other turn."""
    wrong: list[str] = []
    open_calls: list[str] = []
    for turn in turns:
        if turn.role == "tool" and turn.call_id in open_calls:
            open_calls.remove(turn.call_id)
            continue
        wrong += open_calls if turn.role != "tool" else [turn.call_id or "?"]
        open_calls = [call.id for call in turn.calls]
    return wrong + open_calls
