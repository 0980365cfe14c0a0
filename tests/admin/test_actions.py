"""What operators do: the services that members use, asked for by a form, logged with the operator's name (RUN9)."""

import pytest
from django.test import Client

from actors import services as actors
from actors.models import Actor, ApiToken
from agents.models import Draft
from agents.services import drafts
from chats import services as chats
from chats.models import ChatActor, ChatLink, Message
from common.secrets import Secret
from events.models import AuditRecord
from runs.models import Run
from tests.admin.environment import CANARY, page, run_action, run_list_action, sign_in_as
from tests.factories.actors import PASSWORD
from tests.factories.runs import JobFactory, RunFactory
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from workspaces import services as workspaces
from workspaces.models import Credential, Membership


def logged(environment, name, about):
    """Whether the action is in the audit trail with the operator's name, and is shown there."""
    found = AuditRecord.objects.filter(action=name, actor=environment.operator, object_id=about.pk).exists()
    shown = environment.client.get(page(AuditRecord), {"q": str(about.pk)}).content.decode()
    return found and name in shown and environment.operator.name in shown


def participant_of(environment, actor):
    return ChatActor.objects.get(chat=environment.team.chat, actor=actor)


def a_run(environment, **fields):
    team = environment.team
    said = chats.post_message(team.bob, team.chat.id, text="hello", wake="nobody")[0]
    return RunFactory.create(chat=team.chat, agent=team.robin, trigger_id=said.id, on_behalf_of=team.bob, **fields)


def test_EDIT3_an_operator_frees_a_lock_and_the_text_stays(environment):
    draft = drafts.claim_draft(
        actor=environment.team.bob, chat_id=environment.team.chat.id, agent_id=environment.team.robin.id
    )
    run_action(environment.client, draft, "free_draft")
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.status) == (None, "drafting")
    assert logged(environment, "draft.freed", draft)


def test_an_operator_stops_a_run_and_the_chat_reads_who(environment):
    run = a_run(environment, state="queued")
    run_action(environment.client, run, "stop_run")
    run.refresh_from_db()
    assert run.state == "stopped"
    line = Message.objects.get(chat=environment.team.chat, type="RUN_STOPPED")
    assert line.payload["actor_name"] == environment.operator.name
    assert logged(environment, "run.stopped", run)


def test_a_job_has_no_message_to_be_answered_anew(environment):
    team = environment.team
    job = JobFactory.create(workspace=team.workspace, agent=team.robin, state="failed")
    answer = run_list_action(environment.client, Run, "retry_run", job)
    assert [
        "A summary or a merge is asked for again where it was asked for." in str(one)
        for one in answer.context["messages"]
    ] == [True]
    assert Run.objects.count() == 1


def test_an_operator_stops_a_merge_and_its_suggestions_wait_again(environment):
    team = environment.team
    merge = MergeFactory.create(chat=team.chat, agent=team.robin, by=team.alice)
    waiting = SuggestionFactory.create(chat=team.chat, agent=team.robin, author=team.bob, merge=merge)
    run_action(environment.client, merge, "stop_merge")
    merge.refresh_from_db()
    waiting.refresh_from_db()
    assert (merge.state, waiting.state, waiting.merge) == ("stopped", "pending", None)
    assert logged(environment, "merge.stopped", merge)


def test_an_operator_repeats_a_run_for_the_person_it_worked_for(environment):
    run = a_run(environment, state="failed", error_code="timeout")
    run_action(environment.client, run, "retry_run")
    again = Run.objects.get(origin="retry")
    assert (again.state, again.on_behalf_of, again.trigger_id) == ("queued", environment.team.bob, run.trigger_id)
    assert logged(environment, "run.repeated", again)


def test_a_run_that_is_over_is_not_stopped_and_the_operator_reads_why(environment):
    run = a_run(environment, state="completed")
    assert b"This run is over" in run_action(environment.client, run, "stop_run").content
    assert not AuditRecord.objects.filter(action="run.stopped").exists()


def test_a_closed_account_is_out_at_once_also_its_tokens(environment):
    bob, browser = environment.team.bob, sign_in_as(environment.team.bob)
    _, text = actors.create_token(bob, name="a program", days=None)
    program = Client(headers={"Authorization": f"Bearer {text}"})
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 200
    run_action(environment.client, bob, "deactivate")
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 401
    assert logged(environment, "person.deactivated", bob)
    run_action(environment.client, bob, "activate")
    assert sign_in_as(bob).get("/api/v1/me").status_code == 200


def test_an_agent_is_suspended_and_works_again(environment):
    robin = environment.team.robin
    for name, status in (("suspend_agent", "suspended"), ("resume_agent", "ready")):
        run_action(environment.client, robin, name)
        robin.refresh_from_db()
        assert robin.status == status
        assert logged(environment, f"agent.{status}", robin)


def test_an_operator_makes_a_link_to_set_a_password_and_it_is_shown_once(environment):
    answer = run_action(environment.client, environment.team.bob, "reset_link")
    link = answer.content.decode().partition("/reset-password/")[2].partition("<")[0]
    assert link.startswith(environment.team.bob.pk.hex)
    assert logged(environment, "password.link_made", environment.team.bob)
    assert link not in str(list(AuditRecord.objects.values_list("facts", flat=True)))


def test_signed_out_everywhere_and_tokens_revoked(environment):
    browser = sign_in_as(environment.team.bob)
    actors.create_token(environment.team.bob, name="a program", days=None)
    run_action(environment.client, environment.team.bob, "sign_out")
    run_action(environment.client, environment.team.bob, "revoke_tokens")
    assert browser.get("/api/v1/me").status_code == 401
    assert not ApiToken.live.exists()
    assert logged(environment, "sessions.ended", environment.team.bob)
    assert logged(environment, "token.revoked", ApiToken.objects.get())


def test_S03_an_operator_sets_a_role_and_removes_a_member(environment):
    bobs = Membership.objects.get(actor=environment.team.bob)
    run_action(environment.client, bobs, "make_editor")
    bobs.refresh_from_db()
    assert bobs.role == "editor"
    assert logged(environment, "member.role_changed", environment.team.bob)
    run_action(environment.client, bobs, "remove")
    assert not Membership.objects.filter(pk=bobs.pk).exists()
    assert participant_of(environment, environment.team.bob).ended_at is not None
    assert logged(environment, "member.removed", environment.team.bob)


def test_the_last_editor_stays_also_for_operators(environment):
    alices = Membership.objects.get(actor=environment.team.alice)
    for name in ("make_suggester", "remove"):
        assert b"keeps at least one editor" in run_action(environment.client, alices, name).content
    alices.refresh_from_db()
    assert alices.role == "editor"


def test_an_operator_takes_somebody_out_of_a_chat(environment):
    run_action(environment.client, participant_of(environment, environment.team.bob), "take_out")
    assert participant_of(environment, environment.team.bob).ended_at is not None
    assert logged(environment, "chat.member_removed", environment.team.chat)


def test_SEC17_an_operator_deletes_a_key_without_seeing_it(environment):
    team = environment.team
    credential = workspaces.set_model(
        team.alice, team.workspace.id, provider="openai", default_model="m", revision=0, key=Secret(CANARY)
    )
    run_action(environment.client, credential, "forget_key")
    stored = Credential.objects.get()
    assert (stored.encrypted_key, stored.key_last4, stored.revision) == ("", "", credential.revision + 1)
    assert logged(environment, "model.key_forgotten", credential)


def test_an_operator_revokes_links_from_the_list(environment):
    team = environment.team
    made = [chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)[0] for _ in range(2)]
    assert b"Revoke: 2" in run_list_action(environment.client, ChatLink, "revoke", *made).content
    assert not ChatLink.objects.filter(revoked_at=None).exists()
    assert all(logged(environment, "link.revoked", link) for link in made)


def test_of_many_rows_those_that_refuse_are_named_and_the_others_done(environment):
    answer = run_list_action(
        environment.client, Actor, "deactivate", environment.team.bob, environment.team.robin, environment.operator
    )
    text = answer.content.decode()
    assert "Agents have no account" in text
    assert "cannot deactivate yourself" in text
    assert "Close the account: 1" in text
    assert list(AuditRecord.objects.filter(action="person.deactivated").values_list("object_id", flat=True)) == [
        environment.team.bob.id
    ]


@pytest.mark.parametrize("method", ["get", "head"])
def test_nothing_is_done_by_looking(environment, method):
    getattr(environment.client, method)(f"{page(Actor, environment.team.bob.pk)}deactivate/")
    environment.team.bob.refresh_from_db()
    assert environment.team.bob.is_active


def test_an_action_needs_the_csrf_token(environment):
    environment.client.handler.enforce_csrf_checks = True
    assert run_action(environment.client, environment.team.bob, "deactivate").status_code == 403
    environment.team.bob.refresh_from_db()
    assert environment.team.bob.is_active


def test_nothing_is_typed_into_a_row(environment):
    answer = environment.client.post(page(Actor, environment.team.alice.pk, "change"), {"email": "evil@example.org"})
    assert answer.status_code == 403
    assert Actor.objects.get(pk=environment.team.alice.pk).email == "alice@example.org"
    for model in (Actor, Draft, Membership):
        assert environment.client.get(page(model, "add")).status_code == 403
    assert environment.client.post(page(Actor, environment.team.alice.pk, "delete"), {"post": "yes"}).status_code == 403


def test_a_password_is_not_changed_here(environment):
    assert environment.client.get("/admin/password_change/").status_code == 404
    assert environment.client.login(username="op@example.org", password=PASSWORD)
