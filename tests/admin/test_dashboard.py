"""The figures of the first page of the admin."""

from actors.models import Actor
from common.clock import now
from common.ids import get_lowest_id_at
from runs.models import Run
from tests.admin.environment import create_rows, sign_in_as
from tests.factories.runs import RunFactory
from workspaces.models import Workspace


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


def test_figures_without_permission_are_left_out(environment):
    bob = environment.team.bob
    type(bob).objects.filter(pk=bob.pk).update(is_staff=True)
    page = read_figures(sign_in_as(bob))
    assert page["runs"] == page["failed"] == page["totals"] == {}
