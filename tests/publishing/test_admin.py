"""The admin pages of public agents and reports."""

import pytest

from actors.models import Actor
from agents.models import AgentSpec
from events.models import AuditRecord
from events.rows import ReportReason
from publishing import services as publishing
from publishing.models import AgentReport, Listing
from tests.admin.environment import build_action_url, build_path, run_action, run_list_action, sign_in_as
from tests.factories.agents import add_tool_use
from tests.people import make_agent, make_operator
from tests.publishing.publications import add_to_chat, publish
from tools.registry import build_agent_tool_name

pytestmark = pytest.mark.django_db


def test_the_dialog_of_a_takedown_shows_whom_it_affects_and_needs_a_reason(team):
    copy = publish(team)
    add_to_chat(team, copy)
    add_to_chat(team, copy)
    listing, client = Listing.objects.get(), sign_in_as(make_operator())
    dialog = client.get(build_action_url(listing, "take_down"), headers={"HX-Request": "true"}).content.decode()
    assert "1 workspace: Elsewhere (2); 2 chats; a tool of 0 agents; 0 runs under way" in dialog

    run_action(client, listing, "take_down")
    assert Actor.objects.get(pk=copy.pk).taken_down_at is None
    run_action(client, listing, "take_down", reason="It sends texts away.")
    assert Actor.objects.get(pk=copy.pk).taken_down_at is not None
    listing.refresh_from_db()
    assert (listing.takedown_reason, listing.taken_down_by_operator) == ("It sends texts away.", True)
    assert AuditRecord.objects.filter(action="agent.taken_down", facts__as_operator=True).count() == 1
    page = client.get(build_path(Listing, listing.pk, "change")).content.decode()
    assert "take-down" not in page


def test_the_dialog_of_a_takedown_shows_names_as_text_and_not_as_html(team):
    copy = publish(team)
    add_to_chat(team, copy)
    team.elsewhere.name = "<b x-init=alert(1)>W</b>"
    team.elsewhere.save()
    caller = make_agent(team.elsewhere, team.charlie, "<i>Writer</i>")
    spec = AgentSpec.objects.get(agent=caller)
    add_tool_use(spec, build_agent_tool_name(copy.id))
    client = sign_in_as(make_operator())
    url = build_action_url(Listing.objects.get(), "take_down")
    dialog = client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "&lt;b x-init=alert(1)&gt;W&lt;/b&gt; (1)" in dialog
    assert "&lt;i&gt;Writer&lt;/i&gt; (&lt;b x-init" in dialog
    assert "<b x-init" not in dialog
    assert "<i>Writer" not in dialog


def test_the_page_of_a_public_agent_shows_each_field_once(team):
    copy = publish(team)
    add_to_chat(team, copy)
    client = sign_in_as(make_operator())
    page = client.get(build_path(Listing, Listing.objects.get().pk, "change")).content.decode()
    assert page.count("1 workspace: Elsewhere (1); 1 chat") == 1


def get_open_reports(client):
    """Return the number on the first page of the admin, and its tone."""
    totals = client.get("/admin/").context["figures"]["totals"]
    [figure] = [figure for figure in totals if figure.label == "Open reports"]
    assert figure.url == f"{build_path(AgentReport)}?state__exact=open"
    return figure.value, figure.tone


def test_reports_are_a_queue_that_operators_close(team):
    copy = publish(team)
    client = sign_in_as(make_operator())
    assert get_open_reports(client) == ("0", "")
    report = publishing.report_agent(team.charlie, copy.id, reason=ReportReason.BRAND, text="<b>Our name</b>")
    assert get_open_reports(client) == ("1", "bad")
    queue = client.get(build_path(AgentReport), {"state__exact": "open"}).content.decode()
    assert "&lt;b&gt;Our name&lt;/b&gt;" in queue
    run_list_action(client, AgentReport, "close", report)
    report.refresh_from_db()
    assert report.state == "closed"
    assert get_open_reports(client) == ("0", "")
    assert AuditRecord.objects.filter(action="report.closed").count() == 1


def test_an_editor_takes_nothing_down_through_the_admin(team):
    copy = publish(team)
    client = sign_in_as(team.alice)
    assert client.get(build_path(Listing)).status_code == 404
    client.post(build_action_url(Listing.objects.get(), "take_down"), {"_form_submitted": "True", "reason": "No"})
    assert Actor.objects.get(pk=copy.pk).taken_down_at is None
