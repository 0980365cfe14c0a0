"""A request to a model as it was sent, without what the reader may not see."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats.models import Message
from chats.permissions import ChatVerb, list_readable_chats
from common.errors import Forbidden, NotFound
from inspector.rows import BlankedReason, SentBlockRow, SentCallRow, SentRequestRow
from llm.sent_requests import RequestKey, SentRequest, StoredSection, decode_requests, remove_secrets
from llm.tokens import estimate_tokens
from runs.models import Run, Step
from runs.permissions import get_run_for
from runs.runtime.conversation import get_row_id
from usage.models import LLMCall

KINDS_FROM_MESSAGES = ("pinned", "retrieved", "summary", "events")
"""Sections of the system text that are made of messages of the chat. A public agent shows them to its users, unlike its prompt."""


def get_sent_request(actor: Actor, run_id: UUID, request_id: UUID) -> SentRequestRow:
    """Return a request of a run. Only editors who may read the chat may read it.

    The texts of the publisher of a public agent are blanked for everybody else, and so is memory from chats that the reader may not
    read. Raises `NotFound`, `Forbidden`.
    """
    run = get_run_for(actor, run_id, ChatVerb.READ_REQUESTS)
    # All requests of the run, because each is stored as its difference to an earlier one.
    calls = list(LLMCall.objects.filter(run_id=run.id).order_by("pk").only("step_number", "attempt", "request"))
    call = LLMCall.objects.filter(run_id=run.id, pk=request_id).first()
    if call is None:
        raise NotFound("There is no such request.")
    stored = {RequestKey(row.step_number, row.attempt): bytes(row.request) for row in calls if row.request}
    sent = decode_requests(stored).get(RequestKey(call.step_number, call.attempt))
    answer = _read_answer(run, call)
    return SentRequestRow(
        id=call.id,
        run_id=run.id,
        number=call.step_number,
        attempt=call.attempt,
        model=call.model,
        provider=call.provider,
        parameters=dict(sent.parameters) if sent else {},
        blocks=_build_blocks(actor, run, sent) if sent else None,
        is_shortened=sent.is_shortened if sent else False,
        kept_days=settings.SENT_REQUEST_DAYS,
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        tokens_estimated=call.tokens_estimated,
        cost_micro=call.cost_micro,
        tries=call.tries,
        finish=call.finish,
        error_code=call.error_code,
        first_token_seconds=None if call.first_token_ms is None else call.first_token_ms / 1000,
        seconds=None if call.total_ms is None else call.total_ms / 1000,
        **answer,
    )


def _build_blocks(actor: Actor, run: Run, sent: SentRequest) -> list[SentBlockRow]:
    hides_prompt = not _may_see_prompt(actor, run)
    readable = set(list_readable_chats(actor).values_list("pk", flat=True)) if sent.sections else set()
    blocks: list[SentBlockRow] = []
    for turn in sent.turns[:1]:
        blocks += _split_system_text(turn, sent.sections, readable, hides_prompt=hides_prompt)
    for tool in sent.tools:
        text = str(tool["description"])
        blocks.append(
            SentBlockRow(
                kind="tool",
                role="tool",
                name=tool["name"],
                text="" if hides_prompt else text,
                tokens=estimate_tokens(f"{tool['name']}{text}{tool['parameters']}"),
                parameters=None if hides_prompt else dict(tool["parameters"]),
                blanked="prompt_of_public_agent" if hides_prompt else None,
            )
        )
    names = {call["id"]: call["name"] for turn in sent.turns for call in turn.get("calls", ())}
    for turn in sent.turns[1:]:
        calls = [SentCallRow(name=call["name"], arguments=call["arguments"]) for call in turn.get("calls", ())]
        called = "".join(f"{call.name}{call.arguments}" for call in calls)
        provider_fields = turn.get("provider_fields", "")
        blocks.append(
            SentBlockRow(
                kind="message",
                role=turn["role"],
                name=names.get(turn.get("call_id", ""), ""),
                text=turn["text"],
                tokens=estimate_tokens(turn["text"] + called + provider_fields),
                calls=calls,
                images=len(turn.get("images", ())),
                # They may have thinking that the chat does not show, and that repeats the prompt.
                provider_fields="" if hides_prompt else provider_fields,
            )
        )
    return blocks


def _may_see_prompt(actor: Actor, run: Run) -> bool:
    """Return whether the actor, an editor of the run's workspace, may see the prompt: not that of a foreign public agent."""
    if run.agent.workspace_id == run.workspace_id:
        return True
    try:
        get_agent_for(actor, run.agent_id, AgentVerb.SEE_SPEC)
    except (Forbidden, NotFound):
        return False
    return True


def _split_system_text(
    turn: Mapping[str, Any], sections: Sequence[StoredSection], readable: set[UUID], *, hides_prompt: bool
) -> list[SentBlockRow]:
    """Return the sections of the system text and, as `chat`, the texts between them, which describe the agent and the chat. What
    the reader may not read is blanked: memory from other chats and, with `hides_prompt`, all but `KINDS_FROM_MESSAGES`."""
    text, position = turn["text"], 0
    parts: list[tuple[StoredSection | None, str]] = []
    for section in sections:
        parts += [(None, text[position : section.start]), (section, text[section.start : section.end])]
        position = section.end
    parts.append((None, text[position:]))
    blocks: list[SentBlockRow] = []
    for part, content in parts:
        if not content.strip():
            continue
        blanked: BlankedReason | None = None
        if part is not None and not set(part.chat_ids) <= readable:
            blanked = "memory_of_other_chats"
        elif hides_prompt and (part is None or part.kind not in KINDS_FROM_MESSAGES):
            blanked = "prompt_of_public_agent"
        blocks.append(
            SentBlockRow(
                kind=part.kind if part else "chat",
                role=turn["role"],
                text="" if blanked else content.strip(),
                tokens=estimate_tokens(content),
                blanked=blanked,
            )
        )
    return blocks


def _read_answer(run: Run, call: LLMCall) -> dict[str, Any]:
    """Return the text, the thinking and the calls of the answer to a request, from the log of the chat. Secrets are removed,
    because the model may have repeated one from the request."""
    step = Step.objects.filter(run=run, kind="llm", number=call.step_number, attempt=call.attempt).first()
    found: dict[str, Any] = {"answer_text": "", "answer_thinking": "", "answer_calls": []}
    if step is None or call.error_code:
        return found
    message_id = UUID(step.result["message_id"])
    texts = Message.objects.in_bulk([message_id, get_row_id(message_id, "thinking")])
    for message in texts.values():
        text = remove_secrets(message.payload.get("text", ""))
        found["answer_thinking" if message.type == "THINKING" else "answer_text"] = text
    calls = Message.objects.filter(run_id=run.id, type="TOOL_CALL", payload__step=call.step_number).order_by("seq")
    found["answer_calls"] = [
        SentCallRow(name=row.payload["name"], arguments=remove_secrets(row.payload["arguments"])) for row in calls
    ]
    return found
