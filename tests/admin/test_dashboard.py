"""The figures of the first page of the admin."""

import csv
import io
from datetime import timedelta

from django.test import Client

from actors.models import Actor
from chats import services as chats
from common.clock import now
from common.ids import get_lowest_id_at
from events.models import AuditRecord
from runs.models import Run
from tests.admin.environment import create_rows, sign_in_as
from tests.factories.files import FileFactory
from tests.factories.runs import RunFactory
from tests.factories.usage import LLMCallFactory
from workspaces.models import Membership, Workspace


def read_figures(client):
    answer = client.get("/admin/")
    assert answer.status_code == 200
    return {
        heading: {figure.label: (figure.value, figure.tone) for figure in answer.context["figures"][heading]}
        for heading in ("process", "runs", "failed", "totals")
    }


def test_the_figures_count_active_and_failed_runs_and_totals(environment):
    create_rows(environment.team, 2)
    long_ago = get_lowest_id_at(now().replace(year=now().year - 1))
    failed = Run.objects.filter(state="failed")[0]
    RunFactory.create(id=long_ago, chat=failed.chat, agent=failed.agent, state="failed", error_code="timeout")
    page = read_figures(environment.client)
    assert page["runs"]["Queued"][0] == "2"
    assert page["failed"] == {"timeout": ("2", "bad")}
    assert (page["totals"]["Workspaces"][0], page["totals"]["Agents"][0]) == ("4", "5")
    assert page["process"]["Workers"] == ("0", "bad")


def test_the_page_reports_an_unavailable_redis(environment, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    assert read_figures(environment.client)["process"] == {"Redis": ("does not answer", "bad")}


def test_the_link_of_a_total_lists_as_many_rows(environment):
    Workspace.objects.filter(pk=environment.team.elsewhere.pk).update(deleted_at=now())
    Actor.objects.filter(kind="agent").exclude(pk=environment.team.robin.pk).update(status="deleted")
    answer = environment.client.get("/admin/")
    for figure in answer.context["figures"]["totals"]:
        listed = environment.client.get(figure.url).context["cl"].result_count
        assert (figure.label, listed) == (figure.label, int(figure.value))


def test_the_workspaces_are_summed_up_by_cost_activity_and_bytes(environment):
    team = environment.team
    for cost, error, tokens in ((2_500_000, "", 100), (None, "timeout", 5)):
        LLMCallFactory.create(
            workspace=team.elsewhere, cost_micro=cost, error_code=error, input_tokens=tokens, output_tokens=tokens
        )
    long_ago = get_lowest_id_at(now() - timedelta(days=31))
    LLMCallFactory.create(id=long_ago, workspace=team.elsewhere, cost_micro=9_000_000)
    FileFactory.create(chat=team.chat, size=2048)
    FileFactory.create(chat=team.chat, size=4096, deleted_at=now())
    message, _ = chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")
    rows = environment.client.get("/admin/").context["figures"]["workspaces"]
    assert [row.workspace for row in rows] == [team.elsewhere, team.workspace]
    elsewhere, here = rows
    assert (elsewhere.calls, elsewhere.failed, elsewhere.unpriced) == (2, 1, 1)
    assert (elsewhere.tokens, elsewhere.cost, elsewhere.bytes) == (210, "$2.50", 0)
    assert (here.calls, here.cost, here.bytes) == (0, "$0.00", 2048)
    assert here.members == Membership.objects.filter(workspace=team.workspace).count()
    assert here.last_message_at == message.created_at


def test_the_usage_of_all_workspaces_is_downloaded_as_csv_and_recorded(environment):
    team = environment.team
    Workspace.objects.filter(pk=team.elsewhere.pk).update(name="=HYPERLINK()")
    LLMCallFactory.create(workspace=team.elsewhere, cost_micro=1_230_000, input_tokens=7, output_tokens=8)
    answer = environment.client.get("/admin/workspaces.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    first, last = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert (first["id"], first["name"], first["cost in USD"]) == (str(team.elsewhere.pk), "'=HYPERLINK()", "1.230000")
    assert (first["calls"], first["input tokens"], first["output tokens"]) == ("1", "7", "8")
    assert last["handle"] == team.workspace.handle
    assert AuditRecord.objects.get(action="admin.exported").facts == {"table": "workspaces", "rows": 2}


def test_the_usage_of_workspaces_needs_all_of_its_tables(environment):
    bob = environment.team.bob
    type(bob).objects.filter(pk=bob.pk).update(is_staff=True)
    client = sign_in_as(bob)
    assert client.get("/admin/").context["figures"]["workspaces"] == []
    assert client.get("/admin/workspaces.csv").status_code == 403
    assert Client().get("/admin/workspaces.csv").status_code == 302
    assert not AuditRecord.objects.filter(action="admin.exported").exists()


def test_figures_without_permission_are_left_out(environment):
    bob = environment.team.bob
    type(bob).objects.filter(pk=bob.pk).update(is_staff=True)
    page = read_figures(sign_in_as(bob))
    assert page["runs"] == page["failed"] == page["totals"] == {}
