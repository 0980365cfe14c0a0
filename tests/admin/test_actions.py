"""Admin actions call the services that members use, and are audited with the operator's name (RUN9)."""

import pytest
from django.test import Client
from unfold.enums import ActionVariant

from actors import services as actors
from actors.models import Actor, ApiToken
from admin_kit import actions
from admin_kit.reasons import MAX_REASON
from agents.models import Draft
from agents.services import drafts
from chats import services as chats
from chats.models import ChatActor, ChatLink, Message
from common.secrets import Secret
from events.models import AuditRecord
from runs.models import Run
from tests.admin.environment import (
    CANARY,
    MODELS,
    build_path,
    get_model_admin,
    list_action_names,
    run_action,
    run_list_action,
    sign_in_as,
)
from tests.factories.actors import PASSWORD
from tests.factories.runs import JobFactory, RunFactory
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from tests.factories.usage import BudgetFactory, ModelPriceFactory
from tests.factories.workspaces import grant_right
from workspaces import services as workspaces
from workspaces.models import Credential, Membership


def is_audited(environment, name, about):
    """Return whether the action is in the audit trail with the operator's name, and is shown there."""
    found = AuditRecord.objects.filter(action=name, actor=environment.operator, object_id=about.pk).exists()
    shown = environment.client.get(build_path(AuditRecord), {"q": str(about.pk)}).content.decode()
    return found and name in shown and environment.operator.name in shown


def get_participant(environment, actor):
    return ChatActor.objects.get(chat=environment.team.chat, actor=actor)


def create_run(environment, **fields):
    team = environment.team
    message = chats.post_message(team.bob, team.chat.id, text="hello", wake="nobody")[0]
    return RunFactory.create(chat=team.chat, agent=team.robin, trigger_id=message.id, on_behalf_of=team.bob, **fields)


def test_EDIT3_an_operator_releases_the_lock_of_a_draft_and_its_text_is_kept(environment):
    draft = drafts.claim_draft(
        actor=environment.team.bob, chat_id=environment.team.chat.id, agent_id=environment.team.robin.id
    )
    run_action(environment.client, draft, "release_draft")
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.status) == (None, "drafting")
    assert is_audited(environment, "draft.released", draft)


def test_an_operator_stops_a_run_and_the_chat_shows_their_name(environment):
    run = create_run(environment, state="queued")
    run_action(environment.client, run, "stop_run")
    run.refresh_from_db()
    assert run.state == "stopped"
    message = Message.objects.get(chat=environment.team.chat, type="RUN_STOPPED")
    assert message.payload["actor_name"] == environment.operator.name
    assert is_audited(environment, "run.stopped", run)


def test_a_job_cannot_be_retried(environment):
    team = environment.team
    job = JobFactory.create(workspace=team.workspace, agent=team.robin, state="failed")
    answer = run_list_action(environment.client, Run, "retry_run", job)
    assert [
        "A summary or a merge is asked for again where it was asked for." in str(one)
        for one in answer.context["messages"]
    ] == [True]
    assert Run.objects.count() == 1


def test_an_operator_stops_a_merge_and_its_suggestions_are_pending_again(environment):
    team = environment.team
    merge = MergeFactory.create(chat=team.chat, agent=team.robin, by=team.alice)
    waiting = SuggestionFactory.create(chat=team.chat, agent=team.robin, author=team.bob, merge=merge)
    run_action(environment.client, merge, "stop_merge")
    merge.refresh_from_db()
    waiting.refresh_from_db()
    assert (merge.state, waiting.state, waiting.merge) == ("stopped", "pending", None)
    assert is_audited(environment, "merge.stopped", merge)


def test_an_operator_retries_a_run_for_the_person_it_worked_for(environment):
    run = create_run(environment, state="failed", error_code="timeout")
    run_action(environment.client, run, "retry_run")
    again = Run.objects.get(origin="retry")
    assert (again.state, again.on_behalf_of, again.trigger_id) == ("queued", environment.team.bob, run.trigger_id)
    assert is_audited(environment, "run.retried", again)


def test_an_ended_run_cannot_be_stopped_and_the_reason_is_shown(environment):
    run = create_run(environment, state="completed")
    assert b"This run is over" in run_action(environment.client, run, "stop_run").content
    assert not AuditRecord.objects.filter(action="run.stopped").exists()


def test_closing_an_account_ends_its_sessions_and_tokens_for_good(environment):
    bob, browser = environment.team.bob, sign_in_as(environment.team.bob)
    _, text = actors.create_token(bob, name="a program", days=None)
    program = Client(headers={"Authorization": f"Bearer {text}"})
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 200
    run_action(environment.client, bob, "deactivate")
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 401
    assert is_audited(environment, "person.deactivated", bob)
    late, _ = actors.create_token(bob, name="in a request that was under way", days=None)
    run_action(environment.client, bob, "activate")
    assert browser.get("/api/v1/me").status_code == program.get("/api/v1/me").status_code == 401
    assert not ApiToken.unrevoked.filter(pk=late.pk).exists()
    bob.refresh_from_db()
    assert sign_in_as(bob).get("/api/v1/me").status_code == 200


def test_an_agent_can_be_suspended_and_resumed(environment):
    robin = environment.team.robin
    for name, status, action in (
        ("suspend_agent", "suspended", "agent.suspended"),
        ("resume_agent", "ready", "agent.resumed"),
    ):
        run_action(environment.client, robin, name)
        robin.refresh_from_db()
        assert robin.status == status
        assert is_audited(environment, action, robin)
        api = sign_in_as(environment.team.bob)
        listed = api.get(f"/api/v1/workspaces/{environment.team.workspace.id}/agents").json()["results"]
        one = api.get(f"/api/v1/agents/{robin.id}").json()
        shown = [row["is_suspended"] for row in (one, *listed) if row["actor"]["id"] == str(robin.id)]
        assert shown == [status == "suspended"] * 2


@pytest.mark.parametrize(
    ("subject", "name", "action"),
    [
        (lambda environment: environment.team.robin, "suspend_agent", "agent.suspended"),
        (lambda environment: environment.team.bob, "deactivate", "person.deactivated"),
        (lambda environment: environment.team.bob, "revoke_tokens", "token.revoked"),
        (lambda environment: create_run(environment, state="queued"), "stop_run", "run.stopped"),
    ],
)
def test_the_reason_of_a_dangerous_action_is_stored_in_its_audit_record(environment, subject, name, action):
    row = subject(environment)
    if name == "revoke_tokens":
        actors.create_token(row, name="program", days=None)
    run_action(environment.client, row, name, reason="Asked for in ticket 4711.")
    (record,) = AuditRecord.objects.filter(action=action)
    assert record.facts["reason"] == "Asked for in ticket 4711."
    page = environment.client.get(build_path(AuditRecord, record.pk, "change")).content.decode()
    assert "Asked for in ticket 4711." in page


def test_a_reason_is_optional_and_belongs_to_one_action(environment):
    robin, bob = environment.team.robin, environment.team.bob
    run_action(environment.client, robin, "suspend_agent", reason="Too loud.")
    run_action(environment.client, robin, "resume_agent", reason="not asked for")
    run_action(environment.client, bob, "deactivate")
    for action in ("agent.resumed", "person.deactivated"):
        assert "reason" not in AuditRecord.objects.get(action=action).facts
    run_action(environment.client, bob, "activate")
    run_action(environment.client, bob, "deactivate", reason="x" * (MAX_REASON + 1))
    bob.refresh_from_db()
    assert bob.is_active


def test_every_dangerous_action_asks_for_a_reason(environment):
    asked = {
        f"{model.__name__}.{name}"
        for model in MODELS
        for name in list_action_names(model)
        if "reason" in getattr(get_model_admin(model), name).dialog["form_class"].base_fields
    }
    dangerous = {
        f"{model.__name__}.{name}"
        for model in MODELS
        for name in list_action_names(model)
        if getattr(get_model_admin(model), name).variant == ActionVariant.DANGER
    }
    assert len(dangerous) > 10
    assert dangerous <= asked
    assert {"Actor.suspend_agent", "Actor.sign_out", "Actor.set_access_level", "Draft.release_draft"} <= asked


def test_an_agent_that_is_suspended_already_is_suspended_once(environment):
    robin = environment.team.robin
    for _ in range(2):
        actors.suspend_agent(environment.operator, robin.id)
    assert AuditRecord.objects.filter(action="agent.suspended", object_id=robin.id).count() == 1


def test_a_password_link_made_by_an_operator_is_shown_once(environment):
    answer = run_action(environment.client, environment.team.bob, "reset_link")
    link = answer.content.decode().partition("/reset-password/")[2].partition("<")[0]
    assert link.startswith(environment.team.bob.pk.hex)
    assert is_audited(environment, "password.link_made", environment.team.bob)
    assert link not in str(list(AuditRecord.objects.values_list("facts", flat=True)))


def test_an_operator_ends_all_sessions_and_revokes_all_tokens_of_a_person(environment):
    browser = sign_in_as(environment.team.bob)
    actors.create_token(environment.team.bob, name="a program", days=None)
    run_action(environment.client, environment.team.bob, "sign_out")
    run_action(environment.client, environment.team.bob, "revoke_tokens")
    assert browser.get("/api/v1/me").status_code == 401
    assert not ApiToken.unrevoked.exists()
    assert is_audited(environment, "sessions.ended", environment.team.bob)
    assert is_audited(environment, "token.revoked", ApiToken.objects.get())


def test_an_operator_sets_a_role_and_removes_a_member(environment):
    bobs = Membership.objects.get(actor=environment.team.bob)
    run_action(environment.client, bobs, "make_editor")
    bobs.refresh_from_db()
    assert bobs.role == "editor"
    assert is_audited(environment, "member.role_changed", environment.team.bob)
    run_action(environment.client, bobs, "remove")
    assert not Membership.objects.filter(pk=bobs.pk).exists()
    assert get_participant(environment, environment.team.bob).ended_at is not None
    assert is_audited(environment, "member.removed", environment.team.bob)


def test_operators_cannot_demote_or_remove_the_last_editor(environment):
    alices = Membership.objects.get(actor=environment.team.alice)
    for name in ("make_suggester", "remove"):
        assert b"keeps at least one editor" in run_action(environment.client, alices, name).content
    alices.refresh_from_db()
    assert alices.role == "editor"


def test_an_operator_removes_a_participant_from_a_chat(environment):
    run_action(environment.client, get_participant(environment, environment.team.bob), "take_out")
    assert get_participant(environment, environment.team.bob).ended_at is not None
    assert is_audited(environment, "chat.participant_removed", environment.team.chat)


def test_SEC17_an_operator_deletes_a_key_without_seeing_it(environment):
    team = environment.team
    credential = workspaces.set_model(
        team.alice, team.workspace.id, provider="openai", default_model="m", revision=0, key=Secret(CANARY)
    )
    run_action(environment.client, credential, "delete_key")
    stored = Credential.objects.get()
    assert (stored.encrypted_key, stored.key_last4, stored.revision) == ("", "", credential.revision + 1)
    assert is_audited(environment, "model.key_deleted", credential)


def test_an_operator_revokes_links_from_the_list(environment):
    team = environment.team
    made = [chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)[0] for _ in range(2)]
    assert b"Revoke: 2" in run_list_action(environment.client, ChatLink, "revoke", *made).content
    assert not ChatLink.objects.filter(revoked_at=None).exists()
    assert all(is_audited(environment, "link.revoked", link) for link in made)


def test_a_list_action_reports_the_refused_rows_and_changes_the_others(environment):
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


def test_an_action_that_takes_something_away_from_selected_rows_asks_for_a_reason(environment):
    team = environment.team
    rows = {"action": "deactivate", "_selected_action": [team.bob.pk, team.charlie.pk]}
    page = environment.client.post(build_path(Actor), rows).text
    assert team.bob.name in page
    assert team.charlie.name in page
    assert 'name="reason"' in page
    assert Actor.people.filter(is_active=False).count() == 0
    refused = run_list_action(environment.client, Actor, "deactivate", team.bob, reason="x" * (MAX_REASON + 1))
    assert f"at most {MAX_REASON} characters" in refused.text
    assert Actor.people.filter(is_active=False).count() == 0
    run_list_action(environment.client, Actor, "deactivate", team.bob, team.charlie, reason="They left the company.")
    records = AuditRecord.objects.filter(action="person.deactivated").order_by("object_id")
    assert [(record.object_id, record.facts["reason"]) for record in records] == [
        (person.pk, "They left the company.") for person in sorted((team.bob, team.charlie), key=lambda one: one.pk)
    ]


def test_more_rows_than_a_page_can_confirm_are_not_changed(environment, monkeypatch):
    monkeypatch.setattr(actions, "MAX_ROWS", 1)
    rows = {"action": "deactivate", "_selected_action": [environment.team.bob.pk, environment.team.charlie.pk]}
    assert "Select at most 1 rows." in environment.client.post(build_path(Actor), rows, follow=True).text
    assert Actor.people.filter(is_active=False).count() == 0


@pytest.mark.parametrize("is_selected", [False, True])
@pytest.mark.parametrize(
    ("create", "action"),
    [
        (lambda team: BudgetFactory.create(workspace=team.workspace, by_operator=True), "budget.deleted"),
        (lambda team: ModelPriceFactory.create(workspace=None), "price.deleted"),
        (lambda team: grant_right(team.bob, "stop_run_chat", team.chat), "grant.taken"),
    ],
    ids=["budget", "price", "grant"],
)
def test_the_reason_of_a_deletion_is_stored_in_its_audit_record(environment, create, action, is_selected):
    row = create(environment.team)
    model, path = type(row), build_path(type(row), row.pk, "delete")
    if is_selected:
        page = environment.client.post(build_path(model), {"action": "delete_selected", "_selected_action": [row.pk]})
    else:
        page = environment.client.get(path)
    assert 'name="reason"' in page.text
    for reason in ("x" * (MAX_REASON + 1), "Ticket 4711."):
        assert model.objects.filter(pk=row.pk).exists()
        if is_selected:
            run_list_action(environment.client, model, "delete_selected", row, reason=reason)
        else:
            environment.client.post(path, {"post": "yes", "reason": reason}, follow=True)
    assert not model.objects.filter(pk=row.pk).exists()
    (record,) = AuditRecord.objects.filter(action=action)
    assert (record.actor, record.facts["reason"]) == (environment.operator, "Ticket 4711.")


@pytest.mark.parametrize("method", ["get", "head"])
def test_get_and_head_requests_change_nothing(environment, method):
    getattr(environment.client, method)(f"{build_path(Actor, environment.team.bob.pk)}deactivate/")
    environment.team.bob.refresh_from_db()
    assert environment.team.bob.is_active


def test_an_action_needs_the_csrf_token(environment):
    environment.client.handler.enforce_csrf_checks = True
    assert run_action(environment.client, environment.team.bob, "deactivate").status_code == 403
    environment.team.bob.refresh_from_db()
    assert environment.team.bob.is_active


def test_rows_cannot_be_added_changed_or_deleted_by_forms(environment):
    answer = environment.client.post(
        build_path(Actor, environment.team.alice.pk, "change"), {"email": "evil@example.org"}
    )
    assert answer.status_code == 403
    assert Actor.objects.get(pk=environment.team.alice.pk).email == "alice@example.org"
    for model in (Actor, Draft, Membership):
        assert environment.client.get(build_path(model, "add")).status_code == 403
    assert (
        environment.client.post(build_path(Actor, environment.team.alice.pk, "delete"), {"post": "yes"}).status_code
        == 403
    )


def test_passwords_cannot_be_changed_in_the_admin(environment):
    assert environment.client.get("/admin/password_change/").status_code == 404
    assert environment.client.login(username="op@example.org", password=PASSWORD)
