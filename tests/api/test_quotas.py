"""The number of objects is limited, and expired sessions are deleted."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session

from actors import services as actors
from chats import services as chats
from chats.services import participants
from common.clock import now
from tests.api.test_rights import client_for, fingerprint
from tests.factories.actors import SessionFactory
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.people import make_person
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("quota", "path", "body"),
    [
        ("workspaces", "workspaces", {"name": "New"}),
        ("agents", "workspaces/{w}/agents", {"name": "New"}),
        ("agents", "workspaces/{w}/agents/import", {"text": "atelier: agent/1\nname: New"}),
        ("chats", "workspaces/{w}/chats", {"title": "New"}),
        ("links", "chats/{c}/links", {"role": "suggester"}),
        (
            "tool_servers",
            "workspaces/{w}/http-servers",
            {"kind": "http", "name": "New", "base_url": "https://api.example.org"},
        ),
        (
            "workspace_tools",
            "tool-servers/{s}/tools",
            {"name": "new_tool", "form": {"description": "Find.", "method": "GET", "path": "/x"}},
        ),
    ],
)
def test_no_more_objects_than_the_quota_can_be_created(team, settings, quota, path, body):
    chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    server = ToolServerFactory.create(workspace=team.workspace)
    WorkspaceToolFactory.create(workspace=team.workspace, server=server)
    alice, path = client_for(team, "alice"), path.format(w=team.workspace.id, c=team.chat.id, s=server.id)
    settings.QUOTAS = {**settings.QUOTAS, quota: 1}
    before = fingerprint()
    error = alice.refused(429, "quota_reached", "POST", path, body)
    assert error["data"] == {"quota": quota, "most": 1}
    assert fingerprint() == before
    settings.QUOTAS = {**settings.QUOTAS, quota: 0}
    alice.ok("POST", path, body)


def test_a_full_chat_admits_no_participant_by_adding_or_by_a_link(team, monkeypatch):
    monkeypatch.setattr(participants, "MAX_PARTICIPANTS", 3)
    dora = make_person("Dora")
    workspaces.join_workspace(dora, team.workspace.id, role="suggester", invited_by=team.alice)
    _, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    alice, person = client_for(team, "alice"), client_for(team, "charlie")
    before = fingerprint()
    alice.refused(429, "quota_reached", "POST", f"chats/{team.chat.id}/participants", {"actor_id": str(dora.id)})
    person.refused(429, "quota_reached", "POST", f"join/{url.rsplit('/', 1)[1]}")
    assert fingerprint() == before
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    alice.ok("POST", f"chats/{team.chat.id}/participants", {"actor_id": str(dora.id)})


def test_expired_sessions_are_deleted_and_valid_ones_are_kept(db):
    for _ in range(5):
        SessionFactory.create(expire_date=now() - timedelta(seconds=1))
    SessionFactory.create(session_key="valid")
    assert actors.delete_expired_rows() == 5
    assert [session.pk for session in Session.objects.all()] == ["valid"]
