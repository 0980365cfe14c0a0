"""What operators do: the services that members use, asked for by a form, logged with the operator's name (B9)."""

import pytest
from django.test import Client

from actors import services as actors
from actors.models import Actor, ApiToken
from agents.models import Draft, Run
from agents.services import drafts
from chats import services as chats
from chats.models import ChatActor, ChatLink, Message
from common.ids import new_id
from common.secrets import Secret
from events.models import AuditRecord
from suggestions.models import Merge, Suggestion
from tests.admin.house import CANARY, deed, each, page, signed_in
from tests.people import PASSWORD
from workspaces import services as workspaces
from workspaces.models import Credential, Membership


def logged(house, name, about):
    """The deed is in the trail, with the operator's name, and shown there."""
    found = AuditRecord.objects.filter(deed=name, actor=house.operator, object_id=about.pk).exists()
    shown = house.client.get(page(AuditRecord), {"q": str(about.pk)}).content.decode()
    return found and name in shown and house.operator.name in shown


def place_of(house, actor):
    return ChatActor.objects.get(chat=house.team.chat, actor=actor)


def a_run(house, **fields):
    team = house.team
    said = chats.post_message(chat=team.chat, author=team.bob, text="hello", wake="nobody")
    return Run.objects.create(workspace=team.workspace, payer=team.workspace, chat=team.chat, agent=team.robin,
                              lane="a lane", trigger_id=said.id, on_behalf_of=team.bob, **fields)  # fmt: skip


def test_C3_an_operator_frees_a_lock_and_the_text_stays(house):
    draft = drafts.take_draft(actor=house.team.bob, chat_id=house.team.chat.id, agent_id=house.team.robin.id)
    deed(house.client, draft, "free_draft")
    draft.refresh_from_db()
    assert (draft.holder, draft.status) == (None, "drafting")
    assert logged(house, "draft.freed", draft)


def test_B9_an_operator_stops_a_run_and_the_room_reads_who(house):
    run = a_run(house, state="queued")
    deed(house.client, run, "stop_run")
    run.refresh_from_db()
    assert run.state == "stopped"
    line = Message.objects.get(chat=house.team.chat, type="RUN_STOPPED")
    assert line.payload["actor_name"] == house.operator.name
    assert logged(house, "run.stopped", run)


def test_a_job_has_no_message_to_be_answered_anew(house):
    team = house.team
    job = Run.objects.create(workspace=team.workspace, payer=team.workspace, agent=team.robin, lane="a job",
                             origin="summary", brief={}, state="failed")  # fmt: skip
    answer = each(house.client, Run, "retry_run", job)
    assert [
        "A summary or a merge is asked for again where it was asked for." in str(one)
        for one in answer.context["messages"]
    ] == [True]
    assert Run.objects.count() == 1


def test_B9_an_operator_stops_a_merge_and_its_suggestions_wait_again(house):
    team = house.team
    shared = {"workspace": team.workspace, "chat": team.chat, "agent": team.robin, "base": team.robin.current_spec}
    merge = Merge.objects.create(**shared, by=team.alice)
    waiting = Suggestion.objects.create(**shared, author=team.bob, content={}, line_id=new_id(), merge=merge)
    deed(house.client, merge, "stop_merge")
    merge.refresh_from_db()
    waiting.refresh_from_db()
    assert (merge.state, waiting.state, waiting.merge) == ("stopped", "pending", None)
    assert logged(house, "merge.stopped", merge)


def test_B9_an_operator_repeats_a_run_for_the_person_it_worked_for(house):
    run = a_run(house, state="failed", error_code="timeout")
    deed(house.client, run, "retry_run")
    again = Run.objects.get(origin="retry")
    assert (again.state, again.on_behalf_of, again.trigger_id) == ("queued", house.team.bob, run.trigger_id)
    assert logged(house, "run.repeated", again)


def test_a_run_that_is_over_is_not_stopped_and_the_operator_reads_why(house):
    run = a_run(house, state="completed")
    assert b"This run is over" in deed(house.client, run, "stop_run").content
    assert not AuditRecord.objects.filter(deed="run.stopped").exists()


def test_B9_a_closed_account_is_out_at_once_also_its_tokens(house):
    bob, browser = house.team.bob, signed_in(house.team.bob)
    _, text = actors.create_token(person=bob, name="a program", days=None)
    program = Client(headers={"Authorization": f"Bearer {text}"})
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 200
    deed(house.client, bob, "deactivate")
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 401
    assert logged(house, "person.deactivated", bob)
    deed(house.client, bob, "activate")
    assert signed_in(bob).get("/api/v1/me").status_code == 200


def test_an_agent_is_suspended_and_works_again(house):
    robin = house.team.robin
    for name, status in (("suspend_agent", "suspended"), ("resume_agent", "ready")):
        deed(house.client, robin, name)
        robin.refresh_from_db()
        assert robin.status == status
        assert logged(house, f"agent.{status}", robin)


def test_an_operator_makes_a_link_to_set_a_password_and_it_is_shown_once(house):
    answer = deed(house.client, house.team.bob, "reset_link")
    link = answer.content.decode().partition("/reset-password/")[2].partition("<")[0]
    assert link.startswith(house.team.bob.pk.hex)
    assert logged(house, "password.link_made", house.team.bob)
    assert link not in str(list(AuditRecord.objects.values_list("facts", flat=True)))


def test_signed_out_everywhere_and_tokens_revoked(house):
    browser = signed_in(house.team.bob)
    actors.create_token(person=house.team.bob, name="a program", days=None)
    deed(house.client, house.team.bob, "sign_out")
    deed(house.client, house.team.bob, "revoke_tokens")
    assert browser.get("/api/v1/me").status_code == 401
    assert not ApiToken.live.exists()
    assert logged(house, "sessions.ended", house.team.bob)
    assert logged(house, "token.revoked", ApiToken.objects.get())


def test_S03_an_operator_sets_a_role_and_removes_a_member(house):
    bobs = Membership.objects.get(actor=house.team.bob)
    deed(house.client, bobs, "make_editor")
    bobs.refresh_from_db()
    assert bobs.role == "editor"
    assert logged(house, "member.role_changed", house.team.bob)
    deed(house.client, bobs, "remove")
    assert not Membership.objects.filter(pk=bobs.pk).exists()
    assert place_of(house, house.team.bob).ended_at is not None
    assert logged(house, "member.removed", house.team.bob)


def test_the_last_editor_stays_also_for_operators(house):
    alices = Membership.objects.get(actor=house.team.alice)
    for name in ("make_suggester", "remove"):
        assert b"keeps at least one editor" in deed(house.client, alices, name).content
    alices.refresh_from_db()
    assert alices.role == "editor"


def test_an_operator_takes_somebody_out_of_a_chat(house):
    deed(house.client, place_of(house, house.team.bob), "take_out")
    assert place_of(house, house.team.bob).ended_at is not None
    assert logged(house, "chat.member_removed", house.team.chat)


def test_D17_an_operator_deletes_a_key_without_seeing_it(house):
    team = house.team
    credential = workspaces.set_model(
        workspace=team.workspace, actor=team.alice, provider="openai", default_model="m", revision=0, key=Secret(CANARY)
    )
    deed(house.client, credential, "forget_key")
    stored = Credential.objects.get()
    assert (stored.sealed_key, stored.key_last4, stored.revision) == ("", "", credential.revision + 1)
    assert logged(house, "model.key_forgotten", credential)


def test_an_operator_revokes_links_from_the_list(house):
    team = house.team
    made = [chats.create_link(chat=team.chat, creator=team.alice, role="suggester", hours=1)[0] for _ in range(2)]
    assert b"Revoke: 2" in each(house.client, ChatLink, "revoke", *made).content
    assert not ChatLink.objects.filter(revoked_at=None).exists()
    assert all(logged(house, "link.revoked", link) for link in made)


def test_of_many_rows_those_that_refuse_are_named_and_the_others_done(house):
    answer = each(house.client, Actor, "deactivate", house.team.bob, house.team.robin, house.operator)
    text = answer.content.decode()
    assert "Agents have no account" in text
    assert "cannot deactivate yourself" in text
    assert "Close the account: 1" in text
    assert list(AuditRecord.objects.filter(deed="person.deactivated").values_list("object_id", flat=True)) == [
        house.team.bob.id
    ]


@pytest.mark.parametrize("method", ["get", "head"])
def test_nothing_is_done_by_looking(house, method):
    getattr(house.client, method)(f"{page(Actor, house.team.bob.pk)}deactivate/")
    house.team.bob.refresh_from_db()
    assert house.team.bob.is_active


def test_a_deed_needs_the_token_against_forgery(house):
    house.client.handler.enforce_csrf_checks = True
    assert deed(house.client, house.team.bob, "deactivate").status_code == 403
    house.team.bob.refresh_from_db()
    assert house.team.bob.is_active


def test_nothing_is_typed_into_a_row(house):
    answer = house.client.post(page(Actor, house.team.alice.pk, "change"), {"email": "evil@example.org"})
    assert answer.status_code == 403
    assert Actor.objects.get(pk=house.team.alice.pk).email == "alice@example.org"
    for model in (Actor, Draft, Membership):
        assert house.client.get(page(model, "add")).status_code == 403
    assert house.client.post(page(Actor, house.team.alice.pk, "delete"), {"post": "yes"}).status_code == 403


def test_a_password_is_not_changed_here(house):
    assert house.client.get("/admin/password_change/").status_code == 404
    assert house.client.login(username="op@example.org", password=PASSWORD)
