"""API tokens of agents: an outside program takes part as the agent while the agent may run (AGT1)."""

import pytest
from django.db import transaction

from actors import services as actors
from actors.models import Actor, AgentStatus, ApiToken
from chats import services as chats
from chats.models import Message
from common.errors import Forbidden, NotFound
from common.ids import new_id
from events.models import AuditRecord
from runs.models import Run
from tests.api.client import Api
from tests.concurrency import ConcurrentTransaction
from tests.people import make_agent, make_operator, make_person
from webhooks import services as webhooks
from webhooks.models import Webhook
from workspaces import services as workspaces


@pytest.fixture
def made(team):
    with transaction.atomic():
        return webhooks.create_agent_token(team.alice, team.robin.id, name="Bot", days=None, scope="full")


def client_of(text):
    api = Api()
    api.bearer = text
    return api


@pytest.mark.django_db
def test_a_program_reads_posts_and_moves_the_cursor_as_the_agent(team, made):
    robin = client_of(made[1])
    me = robin.ok("GET", "agents/me")
    assert (me["actor"]["name"], me["workspace_id"]) == ("Robin", str(team.workspace.id))
    message = chats.post_message(team.bob, team.chat.id, text="hello", wake="nobody")[0]
    [summary] = robin.ok("GET", f"workspaces/{team.workspace.id}/chats")["results"]
    assert (summary["chat"]["id"], summary["unread"]) == (str(team.chat.id), 1)
    [read] = robin.ok("GET", f"chats/{team.chat.id}/messages?after={message.seq - 1}")["results"]
    assert read["payload"]["text"] == "hello"
    assert robin.ok("PUT", f"chats/{team.chat.id}/read", {"seq": message.seq}) == {"last_read_seq": message.seq}
    body = {"id": str(team.alice.id), "text": "Hello, <b>@alice</b> 你好"}
    robin.ok("POST", f"chats/{team.chat.id}/messages", body)
    posted = Message.objects.get(pk=team.alice.id)
    assert (posted.author, posted.run_id, posted.payload["mentions"]) == (team.robin, None, [str(team.alice.id)])
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_making_and_revoking_a_token_is_audited_and_only_editors_may(team, made):
    for person, status in ((team.bob, 403), (team.charlie, 404)):
        api = Api()
        api.client.force_login(person)
        assert api("POST", f"agents/{team.robin.id}/tokens", {"name": "Mine"}).status_code == status
        assert api("DELETE", f"agents/{team.robin.id}/tokens/{made[0].id}").status_code == status
    assert [token.pk for token in ApiToken.unrevoked.all()] == [made[0].pk]
    webhooks.revoke_agent_token(team.alice, team.robin.id, made[0].id)
    assert client_of(made[1])("GET", "agents/me").status_code == 401
    found = AuditRecord.objects.filter(object_id=made[0].id).order_by("pk").values_list("action", "actor__name")
    assert list(found) == [("token.created", "Alice"), ("token.revoked", "Alice")]
    assert made[1] not in repr(list(ApiToken.objects.values_list()))


def suspend(team):
    actors.suspend_agent(make_operator(), team.robin.id)


def delete_agent(team):
    Actor.objects.filter(pk=team.robin.pk).update(status=AgentStatus.DELETED)


def end_workspace(team):
    workspaces.delete_workspace(team.alice, team.workspace.id, name=team.workspace.name)


@pytest.mark.django_db
@pytest.mark.parametrize("end", [suspend, delete_agent, end_workspace])
def test_the_token_ends_with_the_agent(team, made, end):
    robin = client_of(made[1])
    robin.ok("GET", f"chats/{team.chat.id}")
    end(team)
    assert robin("GET", f"chats/{team.chat.id}").status_code == 401
    body = {"id": str(team.alice.id), "text": "still here"}
    assert robin("POST", f"chats/{team.chat.id}/messages", body).status_code == 401
    assert not Message.objects.filter(pk=team.alice.id).exists()


@pytest.mark.django_db
def test_a_token_of_one_agent_is_not_revoked_through_another(team, made):
    api = Api()
    api.client.force_login(team.alice)
    quill = make_agent(team.workspace, team.alice, "Quill")
    assert api("DELETE", f"agents/{quill.id}/tokens/{made[0].id}").status_code == 404
    assert api("DELETE", f"me/tokens/{made[0].id}").status_code == 404
    assert ApiToken.unrevoked.filter(pk=made[0].pk).exists()


def demote(team):
    workspaces.change_role(team.dora, team.workspace.id, team.alice.id, role="suggester")


def remove_from_workspace(team):
    workspaces.remove_member(team.dora, team.workspace.id, team.alice.id)


def leave_workspace(team):
    workspaces.remove_member(team.alice, team.workspace.id, team.alice.id)


def close_account(team):
    actors.deactivate_person(make_operator(), team.alice.id)


@pytest.mark.django_db
@pytest.mark.parametrize("end", [demote, remove_from_workspace, leave_workspace, close_account])
def test_AGT1_the_token_ends_with_the_rights_of_the_editor_who_made_it(team, made, end):
    team.dora = make_person("Dora")
    workspaces.join_workspace(team.dora, team.workspace.id, role="editor", invited_by=team.alice)
    _, other = webhooks.create_agent_token(team.dora, team.robin.id, name="Hers", days=None, scope="full")
    webhooks.create_webhook(team.alice, team.robin.id, url="https://alice.example.com/")
    webhooks.create_webhook(team.dora, team.robin.id, url="https://dora.example.com/")
    end(team)
    body = {"id": str(new_id()), "text": "still here"}
    assert client_of(made[1])("POST", f"chats/{team.chat.id}/messages", body).status_code == 401
    assert client_of(made[1])("GET", "agents/me/wakes").status_code == 401
    assert client_of(other).ok("GET", "agents/me")["actor"]["name"] == "Robin"
    enabled = Webhook.objects.filter(is_enabled=True).values_list("url", flat=True)
    assert list(enabled) == ["https://dora.example.com/"]
    assert AuditRecord.objects.get(action="webhook.disabled").workspace_id == team.workspace.id
    assert ApiToken.objects.get(pk=made[0].pk).revoked_at is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("end", [demote, remove_from_workspace])
@pytest.mark.parametrize("what", ["a token", "a webhook", "an enabled webhook"])
def test_FAIR6_an_editor_leaves_no_access_that_they_make_while_they_lose_their_rights(team, end, what):
    team.dora = make_person("Dora")
    workspaces.join_workspace(team.dora, team.workspace.id, role="editor", invited_by=team.alice)
    webhook, _ = webhooks.create_webhook(team.alice, team.robin.id, url="https://old.example.com/")
    webhooks.set_enabled(team.alice, team.robin.id, webhook.id, is_enabled=False)
    works = {
        "a token": lambda: webhooks.create_agent_token(team.alice, team.robin.id, name="B", days=None, scope="full"),
        "a webhook": lambda: webhooks.create_webhook(team.alice, team.robin.id, url="https://alice.example.com/"),
        "an enabled webhook": lambda: webhooks.set_enabled(team.alice, team.robin.id, webhook.id, is_enabled=True),
    }
    with transaction.atomic():
        end(team)
        waiting = ConcurrentTransaction(works[what])
    with pytest.raises((Forbidden, NotFound)):
        waiting.result()
    assert not ApiToken.unrevoked.filter(actor=team.robin).exists()
    assert not Webhook.objects.filter(is_enabled=True).exists()
