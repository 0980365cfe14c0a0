"""The conversation of one run as it grows: its turns, the open calls, and the limits at which the run ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from approvals.services import ApprovalRequest
from common.text import to_storable, to_storable_json, unwrap_json_object
from llm.context_window import compute_budget_of_size, estimate_tokens_of_turns, shorten_section, shorten_turns
from llm.messages import Answer, ChunkPart, ProviderFields, ToolCall, Turn
from llm.protocol import LLMError
from llm.sent_requests import Section
from llm.structured import AnswerForm, build_repair_turns
from runs.runtime.steps import LoopEnded, StepId, StepSaved, ToolResult, WaitingCall
from tools.interface import MAX_ARGUMENT_CHARACTERS

BREAKING_CODES = ("cut", "server", "timeout_idle")
"""Codes of errors in the middle of an answer: its provider closed the connection, reported an error, or sends nothing more."""
MAX_ERRORS = 3
"""Answers in a row whose calls were all malformed, or exceptions in tools, after which the run fails."""
MAX_SHORTENED = 4
"""How often a conversation is cut to half for one answer."""
SHORTENED_SECTIONS = ("memory", "pinned", "retrieved", "summary", "events")
"""Parts of the system text that are shortened, too. The other parts are kept whole, because the agent works by them."""


@dataclass
class Conversation:
    """The conversation of a run. If there are `open_calls`, `turns` ends with their assistant turn and its results so far, and
    `later_turns` come after these. `max_context_tokens`: the most tokens of `turns` without the system text; null: no limit.
    `sections`: the parts of the system text, as they are now. `is_answer_cut`: the last answer ended at its length limit.
    `is_answered`: it has no calls and is kept. `form`: the schema of the answer; `repairs_left`: how often the model may be asked
    again for an answer that does not follow it."""

    turns: list[Turn]
    step: StepId
    open_calls: list[ToolCall] = field(default_factory=list)
    later_turns: list[Turn] = field(default_factory=list)
    max_context_tokens: int | None = None
    sections: tuple[Section, ...] = ()
    stop_requested: bool = False
    is_answer_cut: bool = False
    is_answered: bool = False
    was_retried: bool = False
    form: AnswerForm | None = None
    repairs_left: int = 0
    times_shortened: int = 0
    was_shortened: bool = False
    """Whether it was too long at any step."""
    has_shown_size: bool = False
    """Whether the model has refused a request as too long without saying how much it reads: what it accepts then shows that."""
    malformed_answers: int = 0
    broken_calls: int = 0
    _last_problems: str = ""
    _error_kinds: list[str] = field(default_factory=list)
    _shortened_texts: dict[str, str] = field(default_factory=dict)
    """The shortened form of each part of the system text that was shortened, by its original text."""

    def add_answer(self, answer: Answer, saved: StepSaved, problems: str = "") -> None:
        """Add the model's answer. Its calls are open. If it has `problems`, the model reads them next."""
        self.is_answered = not answer.calls and not problems
        if problems:
            self.turns += build_repair_turns(answer.text, problems)
            self.repairs_left -= 1
            self._last_problems = problems
        else:
            turn = Turn("assistant", answer.text, calls=answer.calls, provider_fields=answer.provider_fields)
            self.turns.append(turn)
        self.open_calls = list(answer.calls)
        self.is_answer_cut = answer.finish == "length"
        self.was_retried, self.times_shortened = False, 0
        self.advance(saved)

    def add_context_facts(self, answer: Answer) -> Answer:
        """Return the answer with what its request shows if the conversation was too long for the model."""
        if not self.was_shortened:
            return answer
        texts = sum(turn.role in ("user", "assistant") and bool(turn.text.strip()) for turn in self.turns)
        shows_size = bool(self.times_shortened) and self.has_shown_size
        return replace(answer, remaining_turns=texts, shows_context_size=shows_size)

    def find_problems(self, answer: Answer) -> str:
        """Return why the model is asked again for this answer, or an empty text. It may take a while for a long answer."""
        if self.form is None or answer.calls or not answer.text.strip():
            return ""
        return self.form.find_problems(answer) if self.repairs_left > 0 or self.form.must_fit else ""

    def add_results(self, results: Sequence[ToolResult], saved: StepSaved) -> None:
        """Add the results of calls. Once no call is open, add the messages that others wrote meanwhile."""
        finished = {result.call.id for result in results}
        self.open_calls = [call for call in self.open_calls if call.id not in finished]
        self.turns += [Turn("tool", result.text, call_id=result.call.id) for result in results]
        self._error_kinds += [result.error_kind for result in results]
        self.later_turns += saved.new_turns
        if not self.open_calls:
            is_malformed = all(kind == "call" for kind in self._error_kinds)
            self.malformed_answers = self.malformed_answers + 1 if is_malformed else 0
            self.broken_calls += self._error_kinds.count("tool")
            self._error_kinds = []
            self.turns += self.later_turns
            self.later_turns = []
            if (
                self.max_context_tokens is not None
                and estimate_tokens_of_turns(self.turns[1:]) > self.max_context_tokens
            ):
                self.turns = shorten_turns(self.turns, self.max_context_tokens)
        self.advance(saved)

    def advance(self, saved: StepSaved) -> None:
        """Continue with the next step."""
        self.step = saved.next_step
        if saved.withdrawn_text:
            self._replace_section(self._shortened_texts.get(saved.withdrawn_text, saved.withdrawn_text), "")
        self.stop_requested = self.stop_requested or saved.stop

    def prepare_retry(self, error: LLMError, *, was_streamed: bool, has_written: bool) -> None:
        """Prepare asking the model again after this error: shorten the conversation if it was too long. Raises the error if the
        model is not to be asked again. `was_streamed`: a part of the answer was streamed; else `llm.retry` has retried."""
        is_too_long = error.code == "context_too_long" and self.max_context_tokens is not None
        if is_too_long and self.times_shortened < MAX_SHORTENED:
            self.times_shortened += 1
            self.was_shortened = True
            self.has_shown_size = error.context_size is None and not (error.is_full or was_streamed)
            before = self.turns
            self._shorten_sections()
            self.turns = shorten_turns(self.turns)
            if error.context_size is not None:
                # If it has said how much it reads, one further request is enough.
                budget = compute_budget_of_size(error.context_size, self.turns[0])
                if 0 < budget < estimate_tokens_of_turns(self.turns[1:]):
                    self.turns = shorten_turns(self.turns, budget)
                    self.max_context_tokens = budget
            if estimate_tokens_of_turns(self.turns) >= estimate_tokens_of_turns(before):
                raise error
        elif not was_streamed or error.code not in BREAKING_CODES or self.was_retried or has_written:
            raise error
        else:
            self.was_retried = True

    def _shorten_sections(self) -> None:
        """Shorten the `SHORTENED_SECTIONS` of the system text to half."""
        original = {current: text for text, current in self._shortened_texts.items()}
        for section in self.sections:
            if section.kind in SHORTENED_SECTIONS and section.text:
                shorter = shorten_section(section.text)
                self._replace_section(section.text, shorter)
                self._shortened_texts[original.get(section.text, section.text)] = shorter

    def _replace_section(self, text: str, replacement: str) -> None:
        """Replace a section in the system text. An empty `text` was left out by `shorten_section`: there is nothing to replace."""
        if not text:
            return
        system, *rest = self.turns
        self.turns = [replace(system, text=system.text.replace(text, replacement).strip()), *rest]
        self.sections = tuple(
            replace(section, text=replacement) if section.text == text else section for section in self.sections
        )

    def find_loop_end(
        self, max_steps: int, requests: Sequence[ApprovalRequest], waits: Sequence[WaitingCall]
    ) -> LoopEnded | None:
        """Return the end of the run if the model is not to be asked again, else null. `requests`: calls that wait for people;
        `waits`: those that wait for anything else. People are asked first, because they may be slow."""
        if self.stop_requested:
            return LoopEnded("stopped")
        if requests:
            return LoopEnded("waiting_approval", requests=tuple(requests))
        if waits:
            return LoopEnded("waiting_child", waits=tuple(waits))
        if self.malformed_answers >= MAX_ERRORS:
            text = "The model called tools in a way that cannot be understood, three times in a row."
            return LoopEnded("failed", "malformed_calls", text)
        if self.broken_calls >= MAX_ERRORS:
            return LoopEnded("failed", "tools_broken", "Tools failed three times because of an internal error.")
        if self.form is not None and self.form.must_fit and self.repairs_left < 0:
            text = f"The answer does not follow its schema. {self._last_problems}"
            return LoopEnded("failed", "answer_invalid", text.strip())
        if self.step.number > max_steps:
            return LoopEnded("failed", "step_limit", f"It reached the limit of {max_steps} steps.")
        return None


def get_row_id(message_id: UUID, part: ChunkPart, index: int = 0) -> UUID:
    """Return the id of the row of a part of a step. It is the same when the step is repeated."""
    if part == "text":
        return message_id
    return uuid5(message_id, "thinking" if part == "thinking" else f"call:{index}")


def get_call_id(message_id: UUID, index: int) -> str:
    """Return our id of a call. Unlike the provider's, it is the same when the step is repeated."""
    return f"call_{get_row_id(message_id, 'arguments', index).hex}"


def make_storable(answer: Answer, step: StepId) -> Answer:
    """Return the answer as it is stored: with our ids of its calls, which are refused if their arguments are still too long."""
    calls: list[ToolCall] = []
    for index, call in enumerate(answer.calls):
        name = to_storable(call.name)[:64]
        arguments = to_storable(unwrap_json_object(call.arguments[: MAX_ARGUMENT_CHARACTERS + 1]))
        calls.append(replace(call, id=get_call_id(step.message_id, index), index=index, name=name, arguments=arguments))
    return replace(
        answer,
        text=to_storable(answer.text),
        thinking=to_storable(answer.thinking),
        calls=tuple(calls),
        provider_fields=_make_fields_storable(answer.provider_fields),
    )


def _make_fields_storable(fields: ProviderFields | None) -> ProviderFields | None:
    """Return what the provider attached to its answer as it is stored, or null if it cannot be stored."""
    if fields is None:
        return None
    try:
        return replace(fields, message=to_storable_json(fields.message), calls=to_storable_json(fields.calls))
    except ValueError:
        return None
