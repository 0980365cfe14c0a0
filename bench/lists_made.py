"""The parts of `bench.lists`: many rows of one person, a request, and the bare view."""

import io
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.core.handlers.wsgi import WSGIHandler
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, connections, transaction
from django.http import HttpRequest, JsonResponse
from django.test import override_settings
from django.urls import ResolverMatch

from actors.models import Actor
from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Chat
from config.asgi import build_environ
from suggestions.services import suggest_spec
from tests.people import make_agent, make_person
from tests.realtime.tab import create_session_key
from workspaces import services as workspaces
from workspaces.models import Workspace

Statement = tuple[str, Any]


def create_rows(chat_count: int, agents: int, people: int, lines: int) -> tuple[str, dict[str, str]]:
    """Create the rows. Return the person's session and the paths of their lists by name."""
    with transaction.atomic():
        reader, others = make_person("Reader"), [make_person(f"Other{number}") for number in range(people - 1)]
        workspace = workspaces.create_workspace(reader, name="Lists")
        for person in others:
            workspaces.join_workspace(person, workspace.id, role="suggester", invited_by=reader)
        team = [make_agent(workspace, reader, f"Agent {number}", tools=["current_time"]) for number in range(agents)]
    chats = [_make_chat(workspace, reader, others, team, 0, lines)]
    _create_suggestions(
        chats[0], reader, others[0], team[0]
    )  # first, so that their summaries are done while the other chats are created
    chats += [_make_chat(workspace, reader, others, team, number, lines) for number in range(1, chat_count)]
    connections.close_all()
    at, chat = f"/api/v1/workspaces/{workspace.id}", f"/api/v1/chats/{chats[0].id}"
    return create_session_key(reader), {
        "the sidebar": f"{at}/chats",
        "agents": f"{at}/agents",
        "members": f"{at}/members",
        "workspaces": "/api/v1/workspaces",
        "me": "/api/v1/me",
        "versions": f"/api/v1/agents/{team[0].id}/versions",
        "suggestions": f"{at}/suggestions",
        "notifications": "/api/v1/notifications",
        "a chat's messages": f"{chat}/messages",
        "a chat's participants": f"{chat}/participants",
        "a chat's links": f"{chat}/links",
        "a chat's runs": f"{chat}/runs",
    }


@transaction.atomic
def _make_chat(
    workspace: Workspace, reader: Actor, others: list[Actor], team: list[Actor], number: int, lines: int
) -> Chat:
    members = [others[number % len(others)], team[number % len(team)]]
    ids = [actor.id for actor in members]
    chat = chats.create_chat(reader, workspace.id, title=f"Chat {number}", actor_ids=ids)
    for line in range(lines):
        chats.post_message(members[0], chat.id, text=f"line {line} of the chat", wake="nobody")
    return chat


def _create_suggestions(chat: Chat, editor: Actor, suggester: Actor, agent: Actor) -> None:
    """Create fifty suggestions, with a notification of each for the editor, for an agent with thirty versions."""
    for number in range(50):
        content = SpecContent(prompt=f"Answer in at most {number} words.\n" + "Be kind. " * 100)
        suggest_spec(suggester, chat.id, agent.id, id=uuid4(), content=content, base_version=1)
    names = {"actor": editor, "chat_id": chat.id, "agent_id": agent.id}
    for number in range(1, 30):
        draft = drafts.claim_draft(**names)
        content = SpecContent(prompt=f"Version {number}.\n" + "Be kind. " * 100)
        draft = drafts.write_draft(content=content, revision=draft.revision, **names)
        drafts.save_draft(revision=draft.revision, base_version=number, message="Kinder", **names)


def request_body(handler: Callable[..., Any], path: str, session: str) -> bytes:
    """Return the body of the response to a GET, sent as the bridge does."""
    headers = [(b"host", b"localhost"), (b"cookie", f"sessionid={session}".encode())]
    scope: Any = {"method": "GET", "path": path, "query_string": b"", "http_version": "1.1", "headers": headers}
    statuses: list[str] = []
    answer = handler(build_environ(scope, io.BytesIO()), lambda status, headers: statuses.append(status))
    body = b"".join(answer)
    answer.close()
    if not statuses[0].startswith("200"):
        raise RuntimeError(f"{path}: {statuses[0]} {body[:500]!r}")
    return body


class BareView(WSGIHandler):
    """Django without middleware, with one view that executes the recorded statements and returns their rows as JSON."""

    def __init__(self) -> None:
        with override_settings(MIDDLEWARE=[]):
            super().__init__()
        self._statements: list[Statement] = []

    def record(self, ask: Callable[[], bytes]) -> tuple[int, int]:
        """Record the statements of a request. Return their number, and the number of rows of the response."""
        self._statements.clear()

        def remember(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            self._statements.append((sql, params))
            return execute(sql, params, many, context)

        with connection.execute_wrapper(remember):
            body = json.loads(ask())
        return len(self._statements), len(body.get("results", [body]))

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        return ResolverMatch(self._view, (), {})

    def _view(self, request: HttpRequest) -> JsonResponse:
        rows: list[Any] = []
        with connection.cursor() as cursor:
            for sql, params in self._statements:
                cursor.execute(sql, params)
                rows += cursor.fetchall() if cursor.description else []
        return JsonResponse({"results": rows}, encoder=DjangoJSONEncoder)
