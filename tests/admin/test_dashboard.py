"""The first page: what an operator has to know at a glance."""

from common.clock import now
from common.ids import get_lowest_id_at
from runs.models import Run
from tests.admin.environment import fill, sign_in_as
from tests.factories.runs import RunFactory


def shown(client):
    answer = client.get("/admin/")
    assert answer.status_code == 200
    return {
        heading: {figure.label: (figure.value, figure.tone) for figure in answer.context["figures"][heading]}
        for heading in ("process", "runs", "failed", "totals")
    }


def test_what_is_at_work_what_failed_today_and_how_many_there_are(environment):
    fill(environment.team, 2)
    long_ago = get_lowest_id_at(now().replace(year=now().year - 1))
    failed = Run.objects.filter(state="failed")[0]
    RunFactory.create(id=long_ago, chat=failed.chat, agent=failed.agent, state="failed", error_code="timeout")
    page = shown(environment.client)
    assert page["runs"]["Queued"][0] == "2"
    assert page["failed"] == {"timeout": ("2", "bad")}
    assert (page["totals"]["Workspaces"][0], page["totals"]["Agents"][0]) == ("4", "3")
    assert page["process"]["Workers"] == ("0", "bad")


def test_without_redis_the_page_says_so(environment, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    assert shown(environment.client)["process"] == {"Redis": ("does not answer", "bad")}


def test_a_part_that_one_may_not_see_is_not_there(environment):
    bob = environment.team.bob
    type(bob).objects.filter(pk=bob.pk).update(is_staff=True)
    page = shown(sign_in_as(bob))
    assert page["runs"] == page["failed"] == page["totals"] == {}
