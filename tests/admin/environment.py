"""Rows with awkward texts in every table, and helpers to use the admin."""

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from actors import services as actors
from actors.models import Actor
from agents.models import Draft
from chats import services as chats
from common.clock import now
from common.secrets import Secret
from events import audit
from events.rows import ListingCategory, Role
from llm import services as llm
from publishing import services as publishing
from tests.api.test_rights import PROJECT_MODELS
from tests.factories.actors import EmailChangeFactory
from tests.factories.agents import DraftFactory, DraftSnapshotFactory, LockWaiterFactory
from tests.factories.approvals import ApprovalFactory
from tests.factories.boards import BoardFactory, BoardTaskFactory, TaskEdgeFactory, TaskResultFactory
from tests.factories.chats import MessageRevisionFactory, ThumbFactory, make_answer
from tests.factories.context import AgentContextFactory, HistorySummaryFactory, SummaryCorrectionFactory
from tests.factories.embeddings import EmbeddedChatFactory, EmbeddingModelFactory, MessageEmbeddingFactory
from tests.factories.files import FileFactory
from tests.factories.llm import LLMPolicyFactory
from tests.factories.memory import (
    HistoryEntryFactory,
    MemoryClearingFactory,
    MemoryUseFactory,
    NoteFactory,
    NoteRevisionFactory,
)
from tests.factories.notifications import NotificationFactory
from tests.factories.publishing import AgentReportFactory, AgentUseFactory
from tests.factories.runs import JobFactory, RunFactory, StepFactory
from tests.factories.schedules import ScheduledTimeFactory, ScheduleFactory
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from tests.factories.tools import (
    ServerAuthorizationFactory,
    ToolPolicyFactory,
    ToolServerFactory,
    WorkspaceToolFactory,
)
from tests.factories.usage import (
    BalanceFactory,
    LLMCallFactory,
    ModelPriceFactory,
    ReservationFactory,
    TokenFactorFactory,
)
from tests.factories.viewings import make_viewing
from tests.factories.webhooks import make_delivery, make_webhook
from tests.factories.workspaces import DeletedMembershipFactory, PastMembershipFactory, grant_right
from tests.people import Team, make_agent, make_person
from webhooks.models import AgentWake
from workspaces import services as workspaces

NAMES = ("李雷 🦊", "<script>alert('x')</script>", 'O\'Brien "Q" & Co', "{{ 7 }} x-data", "ملاك", "a" * 80)
CANARY = "sk-CANARY-0123456789abcdef"
MODELS = PROJECT_MODELS


def sign_in_as(person: Actor) -> Client:
    """Return a browser in which the person is signed in."""
    client = Client()
    client.force_login(person)
    return client


def build_path(model: type[Model], *more: Any) -> str:
    """Return the path of a table, of a row, or of one of a row's pages."""
    meta = model._meta
    return "/".join(["/admin", meta.app_label, str(meta.model_name), *map(str, more)]) + "/"


def get_model_admin(model: type[Model]) -> Any:
    """Return the admin class of a model."""
    return admin.site._registry[model]


def list_action_names(model: type[Model]) -> list[str]:
    """Return the names of the actions of a row's page."""
    model_admin = get_model_admin(model)
    return list(model_admin._extract_action_names(model_admin.actions_detail))


def build_action_url(row: Any, name: str) -> str:
    """Return the path of the dialog of an action."""
    return build_path(type(row), row.pk, name.replace("_", "-"))


def run_action(client: Client, row: Any, name: str, **fields: Any) -> Any:
    """Confirm the dialog of an action on a row's page."""
    assert name in list_action_names(type(row))
    return client.post(build_action_url(row, name), {"_form_submitted": "True", **fields}, follow=True)


def run_list_action(client: Client, model: type[Model], name: str, *rows: Any, **fields: Any) -> Any:
    """Run an action for selected rows of a list, and confirm it."""
    selected = {"action": name, "_selected_action": [row.pk for row in rows], "post": "yes"}
    return client.post(build_path(model), selected | fields, follow=True)


def create_rows(team: Team, count: int, *, first: int = 0) -> None:
    """Create `count` more rows in every table."""
    for number in range(first, first + count):
        with transaction.atomic():
            _create_row_in_each_table(team, number)


def _create_row_in_each_table(team: Team, number: int) -> None:
    name = NAMES[number % len(NAMES)]
    person = make_person(f"P{number}")
    Actor.objects.filter(pk=person.pk).update(name=name)
    workspace = workspaces.create_workspace(person, name=f"{name[:60]} {number}")
    workspaces.join_workspace(person, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
    EmailChangeFactory.create(person=person)
    make_viewing(person, team.alice, reason=name)
    DeletedMembershipFactory.create(workspace=team.workspace, actor=person)
    PastMembershipFactory.create(workspace=team.workspace, actor=person, removed_at=now() if number % 2 else None)
    workspaces.set_model(person, workspace.id, provider="openai", default_model=name, revision=0, key=Secret(CANARY))
    llm.set_llm_profile(person, provider="openai", default_model=name, revision=0, key=Secret(CANARY))
    LLMPolicyFactory.create(set_by=person, allowed_providers=["openai"])
    agent = make_agent(workspace, person, f"{name[:60]} {number}", tools=["current_time"])
    chat = chats.create_chat(person, workspace.id, title="", actor_ids=[agent.id])
    message = chats.post_message(person, chat.id, text=f"{name} {CANARY[:3]}", wake="nobody")[0]
    actors.create_token(person, name=name, days=None)
    chats.create_link(person, chat.id, role="suggester", hours=1)
    MessageRevisionFactory.create(message=message, replaced_by=person, text=name)
    ThumbFactory.create(message=make_answer(chat, agent), person=person, text=name)
    draft = DraftFactory.create(chat=chat, agent=agent, prompt=name, created_by=person)
    DraftSnapshotFactory.create(draft=draft, written={"prompt": name}, author=person, reason="takeover")
    LockWaiterFactory.create(draft=draft, person=person, requested_at=now() if number % 2 else None)
    ToolPolicyFactory.create(workspace=workspace)
    server = ToolServerFactory.create(workspace=workspace, name=name, encrypted_credential=CANARY, last_error=name)
    ServerAuthorizationFactory.create(server=server, signed_in_by=person, encrypted_secrets=CANARY)
    WorkspaceToolFactory.create(workspace=workspace, server=server, title=name, description=name)
    FileFactory.create(chat=chat, uploaded_by=person, name=name)
    note = NoteFactory.create(chat=chat, agent=agent, on_behalf_of=person, text=name[:400], run_id=None)
    NoteRevisionFactory.create(note=note, replaced_by=person, text=name[:400])
    clearing = MemoryClearingFactory.create(workspace=workspace, agent=agent, cleared_by=person)
    HistoryEntryFactory.create(chat=chat, agent=agent, clearing=clearing)
    MemoryUseFactory.create(chat=chat, agent=agent)
    ApprovalFactory.create(chat=chat, agent=agent, person=person, arguments=f'{{"text": "{CANARY[:3]}"}}')
    HistorySummaryFactory.create(chat=chat, model=name)
    SummaryCorrectionFactory.create(chat=chat, person=person, new_text=name)
    AgentContextFactory.create(chat=chat, agent=agent)
    EmbeddingModelFactory.create(workspace=workspace, default_model=name, encrypted_key=CANARY, failure_message=name)
    EmbeddedChatFactory.create(chat=chat, person=person)
    MessageEmbeddingFactory.create(message=message)
    copy = publishing.publish_agent(
        person,
        agent.id,
        name=f"{number} {name[:60]}",
        handle=f"public-{number}",
        description=name,
        category=ListingCategory.OTHER,
        examples=[name],
    )
    AgentReportFactory.create(agent=copy, reporter=person, text=name)
    AgentUseFactory.create(agent=copy)
    _create_suggestions(draft, person, name, number)
    _create_runs(agent, chat, message, number)
    schedule = ScheduleFactory.create(chat=chat, agent=agent, owner=person, name=name[:80])
    ScheduledTimeFactory.create(schedule=schedule)
    board = BoardFactory.create(chat=chat, on_behalf_of=person, user_input=name)
    task = BoardTaskFactory.create(board=board, agent=agent, description=name)
    TaskEdgeFactory.create(source=task, target=BoardTaskFactory.create(board=board, agent=agent, number=2))
    TaskResultFactory.create(task=task, data={"text": name})
    make_delivery(make_webhook(agent, f"https://bot.example.com/{number}?name={name}"), error=name)
    AgentWake.objects.create(agent=agent, chat=chat, message_id=message.id, why="mention")
    grant_right(person, "invite_workspace", workspace)
    grant_right(person, "stop_run_chat", chat)
    grant_right(person, "save_agent_actor", agent)
    audit.record(None, "run.stopped")


def _create_runs(agent: Actor, chat: Any, message: Any, number: int) -> None:
    root = RunFactory.create(
        chat=chat,
        agent=agent,
        trigger_id=message.id,
        state="failed",
        error_code="timeout",
        error="<b>no</b> 出錯了",
        on_behalf_of=message.author,
    )
    child = RunFactory.create(chat=chat, agent=agent, root=root, parent=root, input={"text": "<b>task</b>"})
    JobFactory.create(workspace=chat.workspace, agent=agent, input={"text": "<b>x</b>"}, ended=True)
    StepFactory.create(run=child, result={"text": "<i>結果</i>"})
    LLMCallFactory.create(
        run_id=root.id,
        tree_id=root.id,
        workspace=chat.workspace,
        agent=agent,
        model="gpt-<b>",
        error_code="timeout" if number % 2 else "",
    )
    balance = BalanceFactory.create(
        budget__workspace=chat.workspace,
        budget__by_operator=bool(number % 2),
        budget__scope="agent",
        budget__subject=agent,
        subject_id=agent.id,
    )
    ReservationFactory.create(balance=balance, holder_id=root.id)
    ModelPriceFactory.create(workspace=chat.workspace, model=f"gpt-<b>{number}")
    TokenFactorFactory.create(workspace=chat.workspace, model=f"gpt-<b>{number}")
    LLMCallFactory.create(step_number=0, workspace=chat.workspace, on_behalf_of=message.author, model="tried-<b>")


def _create_suggestions(draft: Draft, person: Actor, name: str, number: int) -> None:
    merge = MergeFactory.create(
        chat=draft.chat,
        agent=draft.agent,
        by=person,
        state="failed",
        ended_at=now(),
        error_code="draft_locked",
        error="<b>no</b> 出錯了",
        draft=draft if number % 2 else None,
    )
    for state, decided in (("pending", {}), ("accepted", {"merge": merge, "decided_by": person, "decided_at": now()})):
        suggestion = SuggestionFactory.create(
            chat=draft.chat,
            agent=draft.agent,
            author=person,
            content={"prompt": name},
            note=name,
            state=state,
            **decided,
        )
        NotificationFactory.create(
            person=person,
            event=f"{state}:{suggestion.id}",
            type=f"suggestion_{state.replace('pending', 'created')}",
            workspace=draft.chat.workspace,
            actor_name=name,
            agent_name=name,
            chat_id=draft.chat_id,
            suggestion_id=suggestion.id,
            merge_id=suggestion.merge_id,
            message_id=suggestion.message_id,
            excerpt=name,
        )


def list_links(html: str) -> Iterator[str]:
    """Yield the links of a page to other pages of the admin."""
    for part in html.split('href="')[1:]:
        address = part.partition('"')[0].replace("&amp;", "&")
        if address.startswith(reverse("admin:index")) or address.startswith("?"):
            yield address
