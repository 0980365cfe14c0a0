"""The first page: what an operator has to know at a glance."""

from agents.models import Run
from common.clock import now
from common.ids import id_at
from tests.admin.house import fill, signed_in


def shown(client):
    answer = client.get("/admin/")
    assert answer.status_code == 200
    return {
        heading: {figure.label: (figure.value, figure.tone) for figure in answer.context["figures"][heading]}
        for heading in ("process", "runs", "failed", "house")
    }


def test_B9_what_is_at_work_what_failed_today_and_how_many_there_are(house):
    fill(house.team, 2)
    long_ago = id_at(now().replace(year=now().year - 1))
    of = Run.objects.filter(state="failed")[0]
    Run.objects.create(id=long_ago, workspace=of.workspace, chat=of.chat, agent=of.agent, payer=of.workspace, lane="old",
                       state="failed", error_code="timeout")  # fmt: skip
    page = shown(house.client)
    assert page["runs"]["Queued"][0] == "2"
    assert page["failed"] == {"timeout": ("2", "bad")}
    assert (page["house"]["Workspaces"][0], page["house"]["Agents"][0]) == ("4", "3")
    assert page["process"]["Workers"] == ("0", "bad")


def test_B7_without_redis_the_page_says_so(house, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1"
    assert shown(house.client)["process"] == {"Redis": ("does not answer", "bad")}


def test_a_part_that_one_may_not_see_is_not_there(house):
    bob = house.team.bob
    type(bob).objects.filter(pk=bob.pk).update(is_staff=True)
    page = shown(signed_in(bob))
    assert page["runs"] == page["failed"] == page["house"] == {}
