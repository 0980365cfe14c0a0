"""The payload of each type of message. A payload is validated when it is built, before it is written."""

from datetime import datetime
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _
from pydantic import ConfigDict, Field

from common.request_types import NOT_BLANK
from events.row import Row

MAX_TEXT = 200_000
"""Characters of the text of a message."""

MessageWake = Literal["auto", "nobody"]
"""Whether a message wakes the agents that it addresses (`auto`), or no agent."""


def _leave_out_null_defaults(schema: dict[str, Any]) -> None:
    """Take the fields whose default is null out of the required ones, because `dump_payload` leaves out fields that are null. `Row`
    lists each field as required."""
    fields = schema["properties"]
    if required := [name for name in schema.get("required", ()) if fields[name].get("default", ...) is not None]:
        schema["required"] = required
    else:
        schema.pop("required", None)


class Payload(Row):
    """The content of a message. A field that is null is left out."""

    model_config = ConfigDict(json_schema_extra=_leave_out_null_defaults)


PaidBy = Literal["person", "workspace", "system", "demo"]
"""Whose key pays for a request to a model: that of the person whom the run works for, of the workspace, of the operator, or
none, for the demo model."""
PayerReason = Literal[
    "system_required",
    "llm_profile",
    "no_person",
    "llm_profiles_off",
    "llm_profiles_off_here",
    "no_llm_profile",
    "provider_not_allowed",
    "other_model",
    "not_a_reader",
]
"""Why the person's own model (`LLMProfile`) is used (`llm_profile`) or not, in the order in which it is decided.

`system_required`: the operator requires the model of the installation. `no_person`: the run works for nobody.
`llm_profiles_off`, `llm_profiles_off_here`: the operator, or the workspace, does not allow own models. `no_llm_profile`: the person
has none. `provider_not_allowed`: the operator does not allow its provider. `other_model`: the version names another model.
`not_a_reader`: the person does not read the chat, and the owner of a model reads what it is sent.
"""


ContextStrategy = Literal["truncate", "summarise", "retrieve"]
"""What a model reads of the older messages of a chat that is too long for it, besides important events (`IMPORTANT_TYPES`):
nothing (`truncate`), a summary (`summarise`), or those that match the request, with a summary if there is one (`retrieve`)."""

MemoryScope = Literal["chat", "agent"]
"""What one memory of an agent is for: one chat (`chat`), or all its chats (`agent`)."""


class MessageReference(Payload):
    """A message of the chat, by its number and its id."""

    seq: int
    message_id: UUID


ContextLimit = Literal["model", "workspace", "agent"]


class ContextFacts(Payload):
    """What an answer in a long chat was built from: the summary of the messages up to `summary_through`, the older messages that
    were `found`, the numbers of older important `events` and `pinned` messages, and the number of the newest `turns`. A chat that
    the model read whole has no such facts. `limit`: the most tokens of a request, which `limit_by` has set. `is_shortened`: the
    model has refused a longer request, so that only these `turns` were read of the newest ones, and less of the older ones."""

    strategy: ContextStrategy
    summary_id: UUID | None = None
    summary_through: int | None = None
    found: list[MessageReference] = []
    events: int = 0
    pinned: int = 0
    turns: int
    limit: int | None = None
    limit_by: ContextLimit | None = None
    is_shortened: bool | None = None


class LeftOutTool(Payload):
    """A tool that the provider of the model does not accept, and why. The request was sent without it."""

    name: str
    reason: str


class Stamp(Payload):
    """What answered: a version (`v7`), or the n-th apply of a draft in this chat (`r3`) and the name of who applied it.

    `payer_id` and `payer_name` are those of the person whose own key paid. `compared` is the id of the comparison that the
    answer is one `side` of. `replaced_model`: the model that a public agent names and that was not available in the workspace;
    `model`, the default of the workspace, answered instead. `cut_at_tokens`: the answer was cut at so many tokens, because the
    budgets had not enough left for a longer one.
    """

    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    model: str = ""
    replaced_model: str | None = None
    provider: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micro: int | None = None
    paid_by: PaidBy | None = None
    payer_id: UUID | None = None
    payer_name: str | None = None
    payer_reason: PayerReason | None = None
    compared: UUID | None = None
    side: Literal["production", "draft"] | None = None
    context: ContextFacts | None = None
    cut_at_tokens: int | None = None
    left_out_tools: list[LeftOutTool] | None = None


class UsedMemory(Payload):
    """How many notes of its agent, and how many entries of the agent's history in other chats, a run has read."""

    notes: int
    entries: int


class PromptImprovement(Payload):
    """A change of a prompt that is offered to beginners: `line` is added to the prompt, `label` says what for."""

    label: str
    line: str


class TextPayload(Payload):
    """A text of a person or an agent. The greeting of a new agent has `questions` to begin with, and an `improvement` of its
    prompt.

    `incomplete`: the text ends here because the model's stream broke off or reached a limit, or the run was stopped. `answers` is
    the message that started the run; `answered_ids` are all messages that address the agent and that the run had read, if several.
    `memory`: what the run has read of the agent's memory, if anything. `sent_by_run_id`: if an agent sent this text by a tool while
    it worked in another chat, its run there. `answers_earlier_text`: a message that it answers was edited before the answer was
    stored, but after the run had read it. `is_deleted`, `deleted_by`: the text is empty then.
    """

    text: str = Field(max_length=MAX_TEXT)
    mentions: list[UUID] = []
    wake: MessageWake = "auto"
    stamp: Stamp | None = None
    incomplete: bool = False
    greeting: bool = False
    questions: list[str] | None = None
    improvement: PromptImprovement | None = None
    answers: UUID | None = None
    memory: UsedMemory | None = None
    answered_ids: list[UUID] | None = None
    sent_by_run_id: UUID | None = None
    answers_earlier_text: bool | None = None
    is_deleted: bool | None = None
    deleted_by: UUID | None = None


class FileKind(models.TextChoices):
    """The kind of a file, which is recognised by its content."""

    IMAGE = "image", _("image")
    PDF = "pdf", _("PDF")
    DOCUMENT = "document", _("document")
    SLIDES = "slides", _("slides")
    SHEET = "sheet", _("spreadsheet")
    TEXT = "text", _("text")
    OTHER = "other", _("other")


TEXT_KINDS = frozenset({FileKind.TEXT, FileKind.PDF, FileKind.DOCUMENT, FileKind.SLIDES, FileKind.SHEET})
"""The kinds of files that have a text."""


class FileState(models.TextChoices):
    """The state of reading a file: its text, its size in pixels and its number of pages."""

    WAITING = "waiting", _("waiting")
    READY = "ready", _("ready")
    FAILED = "failed", _("failed")


class NoTextReason(models.TextChoices):
    """Why no text could be read from a file. `UNAVAILABLE`: it could not be read within an hour, for a reason on the server."""

    PASSWORD = "password", _("needs a password")
    TOO_LARGE = "too_large", _("too large to read")
    DAMAGED = "damaged", _("damaged")
    SCANNED = "scanned", _("probably scanned")
    FORMAT = "format", _("format that is not read")
    UNAVAILABLE = "unavailable", _("could not be read in time")


class FileFacts(Row):
    """What clients show of a file. `size` is in bytes, `width` and `height` in pixels.

    `encoding`: of a plain text, such as `UTF-8` or `Big5`. `no_text_reason`: null if its text was read, or is still to be read.
    """

    name: str
    kind: FileKind
    content_type: str
    size: int
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    has_thumbnail: bool = False
    state: FileState
    encoding: str = ""
    no_text_reason: NoTextReason | None = None


class FilePayload(FileFacts, Payload):
    """A file that was shared in the chat; its id is the message's. `size` is in bytes, `width` and `height` in pixels.

    `answers` is the message that started the run whose agent wrote the file.
    """

    file_id: UUID
    is_deleted: bool = False
    deleted_by: UUID | None = None
    wake: MessageWake = "auto"
    answers: UUID | None = None


class ThinkingPayload(Payload):
    """The reasoning that a model wrote before its answer."""

    text: str
    seconds: float | None = None


class ToolCallPayload(Payload):
    """One call of a tool, as the model made it, with our id of the call. `arguments` is the model's own JSON text."""

    call_id: str
    name: str
    arguments: str
    step: int
    stamp: Stamp | None = None


class WebPageData(Payload):
    """A part of a web page: the characters from `start` to `end` of `total`, as Markdown.

    Unknown fields are empty. `is_cut`: the page is longer than the part that was fetched.
    """

    kind: Literal["web_page"] = "web_page"
    title: str
    url: str
    site: str = ""
    published: str = ""
    text: str
    start: int
    end: int
    total: int
    is_cut: bool = False


class SearchHit(Payload):
    """A page that a search found. `title` is its URL if it has none; `text` is an excerpt."""

    title: str
    url: str
    text: str = ""
    published: str = ""


class SearchResultsData(Payload):
    """The pages that a search of the web found."""

    kind: Literal["search_results"] = "search_results"
    query: str
    results: list[SearchHit]


class HTTPResponseData(Payload):
    """The answer of a workspace tool's server. `path` is the template, without arguments. `is_cut`: the answer is longer."""

    kind: Literal["http_response"] = "http_response"
    server: str
    method: str
    path: str
    status: int
    content_type: str
    text: str
    is_cut: bool = False


class MCPResultData(Payload):
    """The value that an MCP server sent beside the text of a result. `tool` is the tool's name there, `text` the value as JSON.
    `is_cut`: the JSON is longer."""

    kind: Literal["mcp_result"] = "mcp_result"
    server: str
    tool: str
    text: str
    is_cut: bool = False


class TextRange(Payload):
    """A part of a text: from the character `start` to the one before `end`. Characters are counted, not UTF-16 units."""

    start: int
    end: int


class FoundMessage(Payload):
    """A message that a search found. `text` is an excerpt, or the name of a file (`is_file`). `marks`: the words of the query in
    `text`. Results of tools that older releases have stored have no `author_id` and no `marks`."""

    message_id: UUID
    chat_id: UUID
    chat_title: str
    author: str
    author_id: UUID | None = None
    text: str
    marks: list[TextRange] | None = None
    is_file: Literal[True] | None = None
    created_at: datetime


class FoundMessagesData(Payload):
    """The messages that a search of chats found, in its order."""

    kind: Literal["found_messages"] = "found_messages"
    query: str
    messages: list[FoundMessage]


class FoundTool(Payload):
    """A tool that a search found, and the name of its server."""

    name: str
    server: str


class FoundToolsData(Payload):
    """The tools that a search of the agent's tools found, the best first."""

    kind: Literal["found_tools"] = "found_tools"
    query: str
    tools: list[FoundTool]


class SubAgentResultData(Payload):
    """The end of a task that another agent was given. `message_id`: the last text of that agent, if any; `state`: of its run."""

    kind: Literal["sub_agent"] = "sub_agent"
    run_id: UUID
    agent_id: UUID
    name: str
    message_id: UUID | None = None
    state: Literal["completed", "failed", "stopped"]
    error_code: str | None = None
    summary: str = ""
    steps: int = 0
    seconds: float | None = None
    cost_micro: int = 0


ToolData = (
    HTTPResponseData
    | MCPResultData
    | WebPageData
    | SearchResultsData
    | FoundMessagesData
    | FoundToolsData
    | SubAgentResultData
)
"""The data of a tool result that the web app draws in its place."""


class ToolResponsePayload(Payload):
    """The result of a tool call. The model reads `text`; the web app shows `data` instead, if there is any. `quotes_agents`: the
    text contains texts of agents."""

    tool_call_id: str
    name: str
    status: Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]
    text: str
    seconds: float | None = None
    data: ToolData | None = None
    quotes_agents: Literal[True] | None = None


class BudgetScope(models.TextChoices):
    """Whose calls a budget limits: those of the workspace, of a person, of an agent, or of a run with all that it starts."""

    WORKSPACE = "workspace", _("workspace")
    PERSON = "person", _("person")
    AGENT = "agent", _("agent")
    RUN_TREE = "run_tree", _("run with its sub-runs")


class BudgetPeriod(models.TextChoices):
    """How long a budget lasts. A day and a month begin at midnight in the time zone of the workspace, those of an
    operator's budget in UTC."""

    DAY = "day", _("day")
    MONTH = "month", _("month")
    RUN = "run", _("run")


class BudgetRefusal(Payload):
    """The budget that refused a call, as it was then. Its amounts are in millionths of a dollar (`…_micro`) or, for a budget in
    tokens, in tokens; those of the other unit are null.

    `subject_id`: whose budget it is, null in rows that are older than this field; `needed_…`: the most that the call could have
    used, with the shortest answer that could be asked for, or, if such an answer was cut, with a whole one; `left_…`: what was
    neither spent nor reserved, null in older rows; `ends_at`: when the budget begins again, null for that of a run; `revision`:
    of the budget. `limit_…`, `spent_…` and `left_…` are null for the budget of a person, because all participants read this,
    and not all may see the usage of others.

    `unpriced_model`: the model whose price is not known, which is why a budget in dollars refused the call; then it has no amounts.
    `price_set_by`: who can set that price.
    """

    budget_id: UUID
    scope: BudgetScope
    period: BudgetPeriod
    subject_id: UUID | None = None
    subject_name: str = ""
    limit_micro: int | None = None
    spent_micro: int | None = None
    needed_micro: int | None = None
    left_micro: int | None = None
    limit_tokens: int | None = None
    spent_tokens: int | None = None
    needed_tokens: int | None = None
    left_tokens: int | None = None
    unpriced_model: str | None = None
    price_set_by: Literal["editor", "operator"] | None = None
    revision: int | None = None
    ends_at: datetime | None = None
    time_zone: str = ""


WakeLimit = Literal["hops", "pair_rate", "pair_day"]
"""The limit that ended a loop of agents: on messages of agents in a row (`hops`), or on how often two agents wake each other within
minutes (`pair_rate`) or in a day (`pair_day`)."""


class SystemPayload(Payload):
    """An event in the chat: its actor, action and object.

    The client resolves names from ids. The names are stored as well, because a person may leave. `via` is the name of the
    agent that acted for the actor. The comments in the code say which events have the other fields.
    """

    actor_id: UUID | None = None
    actor_name: str = ""
    target_id: UUID | None = None
    target_name: str = ""
    via: str = ""
    note: str = ""
    # A version that was saved, an applied draft, a suggestion, a merge.
    version: int | None = None
    draft_apply: int | None = None
    suggestion_id: UUID | None = None
    merge_id: UUID | None = None
    # The authors of suggestions that were merged, accepted or rejected; for a discarded draft, the others whose changes were in it.
    authors: list[str] = []
    # A person who joins: the agent that answers only when mentioned from now on.
    mention_only_id: UUID | None = None
    mention_only_name: str = ""
    # A run that was stopped or failed: its error, the person whose own model failed, and the budget that ended it.
    run_id: UUID | None = None
    code: str | None = None
    payer_name: str = ""
    budget: BudgetRefusal | None = None
    # What a model writes about the event later.
    summary: str = ""
    summary_state: Literal["pending", "ready", "failed"] | None = None
    # An applied draft: its spec, the spec that answered in the chat until then, the number of lines of the prompt that differ, and
    # the changed fields.
    spec_id: UUID | None = None
    before_id: UUID | None = None
    lines_changed: int | None = None
    touches: list[str] = []
    # The strategy by which an agent reads a long chat from now on.
    strategy: ContextStrategy | None = None
    # A woken agent: by hand or by a schedule (`reason`). For a schedule: its id, name and instructions, when it was due, and how
    # many earlier times were missed.
    reason: Literal["hand", "schedule"] | None = None
    schedule_id: UUID | None = None
    name: str | None = None
    text: str | None = Field(default=None, max_length=MAX_TEXT)
    due_at: datetime | None = None
    missed: int | None = None
    # A limit of waking: which one, its number, and the names of the agents that were not woken.
    limit: WakeLimit | None = None
    most: int | None = None
    agent_names: list[str] | None = None
    # A message that was pinned, or that a run which was stopped or failed should have answered; the text of a chosen answer.
    message_id: UUID | None = None
    # A board: its id, the number of its tasks, and of those that have succeeded. `code`: why it failed, or is paused.
    board_id: UUID | None = None
    tasks: int | None = None
    succeeded: int | None = None


class ComparisonSide(Payload):
    """One of the two specs that answer in a comparison. `earlier`: runs that failed or were stopped, and were retried."""

    run_id: UUID
    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    earlier: list[UUID] = []


VoteChoice = Literal["production", "equal", "draft"]


class Vote(Payload):
    actor_id: UUID
    choice: VoteChoice


class ComparisonPayload(Payload):
    """A question that production and the draft answer side by side. The message is the comparison. `ended`: voting is closed."""

    actor_id: UUID
    actor_name: str
    target_id: UUID
    target_name: str
    text: str = Field(max_length=MAX_TEXT)
    draft_id: UUID
    production: ComparisonSide
    draft: ComparisonSide
    votes: list[Vote] = []
    ended: bool = False


ApprovalReason = Literal["policy", "others", "outside"]
"""Why a call waits for a person: the policy of its tool (`policy`), or because the run has read texts of other people or agents
(`others`), or texts from outside the workspace, such as pages and files (`outside`)."""
ApprovalDecision = Literal["approved", "approved_for_run", "refused", "answered", "expired", "stopped"]
"""What came of an approval. `approved_for_run`: further calls of the same tool in this run are approved, too. `answered`: a
question. `stopped`: the run ended before."""

ReadTexts = Literal["", "others", "outside"]
"""The values of `TextsOfOthers`: whose texts a run has read, besides those of the person it works for."""
AskedAgain = Literal["texts", "target"]
"""Why a call waits although a person has approved all calls of its tool in this run: the run has read other texts since (`texts`),
or the call goes elsewhere, or to other readers (`target`)."""


class TargetReader(Row):
    """Somebody who reads the chat that a call writes into. `is_new`: they do not read the chat of the run."""

    actor_id: UUID
    name: str
    is_new: bool


class ChatTarget(Row):
    """The chat that a call writes into, and who reads it. `member`: the name of the other in a direct chat, which has no title;
    `chat_id` is null if the call names the member. `is_hidden`: the actor who reads this row does not read the chat, so the row has
    no title and no readers, and the actor may only refuse the call."""

    type: Literal["chat"] = "chat"
    chat_id: UUID | None
    title: str
    member: str
    workspace_id: UUID
    workspace_name: str
    readers: list[TargetReader]
    is_hidden: bool = False


class ServerTarget(Row):
    """The server that a call sends a request to. `method` and `path` are those of an HTTP tool, and empty for an MCP tool."""

    type: Literal["server"] = "server"
    server: str
    host: str
    method: str
    path: str
    effect: Literal["read", "write"]


CallTarget = Annotated[ChatTarget | ServerTarget, Field(discriminator="type")]
"""Where a call goes, as this app knows it, whatever its arguments say."""

MAX_QUESTION = 500
MAX_CHOICES = 6
MAX_LABEL = 100
MAX_CHOICE_DESCRIPTION = 200
MAX_NOTE = 500
"""Characters of the words that a person adds to a refusal."""
MAX_ANSWER = 4_000
"""Characters of an answer to a question of an agent."""


class QuestionChoice(Payload):
    label: str = Field(min_length=1, max_length=MAX_LABEL)
    description: str = Field(default="", max_length=MAX_CHOICE_DESCRIPTION)


class Question(Payload):
    """A question of an agent to a person: one of the choices or, if that is allowed, any text answers it."""

    text: str = Field(min_length=1, max_length=MAX_QUESTION)
    choices: list[QuestionChoice] = Field(default=[], max_length=MAX_CHOICES)
    allow_free_answer: bool = True


class ApprovalAskedPayload(Payload):
    """A run waits for a decision about one of its calls. The message has the id of the approval.

    `target_id` is the agent, `person_id` the person whom the run works for. `arguments` is the model's own JSON text, which is data
    and never markup. A question has a `question` and no `reason`. `has_target`: the row of the approval says where the call goes,
    to each reader what they may know. `can_approve_for_run`: whether `approved_for_run` is offered.
    """

    call_id: str
    tool: str
    arguments: str
    reason: ApprovalReason | None = None
    read_texts: ReadTexts = ""
    asked_again: AskedAgain | None = None
    can_approve_for_run: bool = True
    has_target: bool = False
    question: Question | None = None
    target_id: UUID
    target_name: str
    person_id: UUID | None = None
    person_name: str = ""
    expires_at: datetime


class ApprovalDecidedPayload(Payload):
    """What came of an approval, and by whom; no actor if it expired or its run ended. `arguments`: the edited ones, if any."""

    approval_id: UUID
    call_id: str
    tool: str
    decision: ApprovalDecision
    actor_id: UUID | None = None
    actor_name: str = ""
    target_id: UUID
    target_name: str
    note: str = Field(default="", max_length=MAX_NOTE)
    answer: str = Field(default="", max_length=MAX_ANSWER)
    arguments: str | None = None


SystemMessageType = Literal[
    # A participant was added to the chat; a participant left it or was removed. (`MEMBER`, because stored rows have these names.)
    "MEMBER_JOINED",
    "MEMBER_LEFT",
    "LOCK_ACQUIRED",
    "LOCK_RELEASED",
    "DRAFT_STARTED",
    "DRAFT_APPLIED",
    "DRAFT_DISCARDED",
    "DRAFT_MERGED",
    "SPEC_SAVED",
    "SUGGESTION_CREATED",
    "SUGGESTION_ACCEPTED",
    "SUGGESTION_REJECTED",
    "SUGGESTION_WITHDRAWN",
    "RUN_FAILED",
    "RUN_STOPPED",
    # A public agent of the chat has a new version, or was taken down. These messages name no person of the publisher.
    "AGENT_PUBLISHED",
    "AGENT_TAKEN_DOWN",
    # An agent reads this chat by this strategy from now on, because the chat has become too long for its model.
    "CONTEXT_STRATEGY_CHANGED",
    # A person or a schedule has woken an agent, which reads this message. A limit has ended a loop of agents that wake each other.
    "AGENT_WOKEN",
    "WAKE_LIMIT_REACHED",
    # A participant has pinned a message; has chosen which answer of an agent is in use.
    "MESSAGE_PINNED",
    "ANSWER_CHOSEN",
    # A person has started a board (which is shown at this message, unless it is in the reply of a supervisor), stopped, paused or
    # resumed it; a board has ended.
    "TASKS_STARTED",
    "TASKS_ENDED",
    "TASKS_STOPPED",
    "TASKS_PAUSED",
    "TASKS_RESUMED",
]

PAYLOADS: dict[str, type[Payload]] = {
    "TEXT_MESSAGE": TextPayload,
    "FILE_MESSAGE": FilePayload,
    "THINKING": ThinkingPayload,
    "TOOL_CALL": ToolCallPayload,
    "TOOL_RESPONSE": ToolResponsePayload,
    "COMPARISON": ComparisonPayload,
    "APPROVAL_ASKED": ApprovalAskedPayload,
    "APPROVAL_DECIDED": ApprovalDecidedPayload,
    **dict.fromkeys(get_args(SystemMessageType), SystemPayload),
}
"""The payload class of each type of message."""


def dump_payload(type_: str, payload: Payload) -> dict[str, Any]:
    """Return the payload of a message of this type as it is stored. Raises `TypeError` for a payload of another type."""
    if not isinstance(payload, PAYLOADS[type_]):
        raise TypeError(f"{type(payload).__name__} is not the payload of {type_}.")
    return payload.model_dump(mode="json", exclude_none=True)


MESSAGE_TEXT: dict[str, Any] = {"minLength": 1, "maxLength": MAX_TEXT, "pattern": NOT_BLANK}
"""The JSON schema of a message's text. A longer text is refused with 413."""
