"""Invite links: their number of uses, the role that they give, and when they are refused."""

import pytest
from django.db import transaction

from chats import services as chats
from chats.models import ChatActor, ChatLink
from common.errors import Code, Invalid, NotFound, QuotaReached
from events.models import AuditRecord
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.workspaces import grant_right
from tests.people import make_operator, make_person, make_team
from workspaces import grants
from workspaces import services as workspaces
from workspaces.models import Membership

pytestmark = pytest.mark.django_db


def make_link(team, role="suggester", *, chat=None, creator=None, **more):
    link, url = chats.create_link(creator or team.alice, (chat or team.chat).id, role=role, hours=24, **more)
    return link, url.rsplit("/", 1)[1]


def leave(team, person):
    workspaces.leave_workspace(person, team.workspace.id)


def remove(team, person):
    workspaces.remove_member(team.alice, team.workspace.id, person.id)


def set_role(team, person, role):
    workspaces.change_role(team.alice, team.workspace.id, person.id, role=role)


def get_role(team, person):
    return Membership.objects.filter(workspace=team.workspace, actor=person).values_list("role", flat=True).first()


def assert_refused(token, person):
    before = fingerprint()
    for ask in (lambda: chats.get_invitation(token, reader=person), lambda: chats.accept_link(person, token)):
        with pytest.raises(NotFound) as refusal:
            ask()
        assert refusal.value.code == Code.LINK_DEAD
    assert fingerprint() == before


def test_FAIR6_a_demoted_editor_who_leaves_does_not_rejoin_as_editor(team):
    set_role(team, team.bob, "editor")
    _, old = make_link(team, "editor", max_uses=None)
    set_role(team, team.bob, "suggester")
    leave(team, team.bob)
    assert chats.get_invitation(old, reader=team.bob)[1] == "suggester"
    chats.accept_link(team.bob, old)
    assert get_role(team, team.bob) == "suggester"


def test_FAIR6_a_suggester_does_not_become_editor_by_a_link_for_editors(team):
    _, token = make_link(team, "editor", max_uses=None)
    chats.accept_link(team.bob, token)
    assert get_role(team, team.bob) == "suggester"
    leave(team, team.bob)
    chats.accept_link(team.bob, token)
    assert get_role(team, team.bob) == "suggester"


def test_an_editor_who_leaves_rejoins_with_the_role_of_the_link(team):
    set_role(team, team.bob, "editor")
    _, as_editor = make_link(team, "editor")
    _, as_suggester = make_link(team, "suggester")
    leave(team, team.bob)
    chats.accept_link(team.bob, as_editor)
    assert get_role(team, team.bob) == "editor"
    leave(team, team.bob)
    chats.accept_link(team.bob, as_suggester)
    assert get_role(team, team.bob) == "suggester"


def test_FAIR6_a_removed_member_cannot_rejoin_by_an_older_link_to_any_chat(team):
    other = chats.create_chat(team.alice, team.workspace.id, title="Other")
    tokens = [make_link(team, max_uses=None)[1], make_link(team, chat=other, max_uses=None)[1]]
    remove(team, team.bob)
    for token in tokens:
        assert_refused(token, team.bob)
    chats.accept_link(team.bob, make_link(team)[1])
    assert get_role(team, team.bob) == "suggester"
    leave(team, team.bob)
    for token in tokens:
        assert_refused(token, team.bob)


def test_FAIR6_a_removed_participant_cannot_rejoin_by_an_older_link_to_the_chat(team):
    _, token = make_link(team, max_uses=None)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert_refused(token, team.bob)
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    assert chats.accept_link(team.bob, token)


def test_a_participant_who_leaves_a_chat_can_rejoin_by_the_link(team):
    _, token = make_link(team)
    chats.remove_participant(team.bob, team.chat.id, team.bob.id)
    chats.accept_link(team.bob, token)
    assert ChatActor.objects.filter(chat=team.chat, actor=team.bob, ended_at=None).exists()


def test_FAIR6_a_link_is_revoked_when_its_creator_is_removed_from_the_chat(team):
    set_role(team, team.bob, "editor")
    link, token = make_link(team, creator=team.bob)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert_refused(token, team.charlie)
    assert_refused(token, team.bob)
    link.refresh_from_db()
    assert link.revoked_at is not None


def test_a_link_is_refused_when_its_creator_is_not_in_the_chat(team):
    """The link itself is not revoked."""
    set_role(team, team.bob, "editor")
    _, token = make_link(team, creator=team.bob)
    ChatActor.objects.filter(chat=team.chat, actor=team.bob).delete()
    assert_refused(token, team.charlie)


@pytest.mark.parametrize("way", ["removed", "left", "demoted"])
def test_FAIR6_links_are_revoked_for_good_when_their_creator_loses_the_right_to_invite(team, way):
    set_role(team, team.bob, "editor")
    link, token = make_link(team, creator=team.bob)
    kept, _ = make_link(team)
    if way == "demoted":
        set_role(team, team.bob, "suggester")
    elif way == "left":
        leave(team, team.bob)
    else:
        remove(team, team.bob)
    link.refresh_from_db()
    kept.refresh_from_db()
    assert (link.revoked_at is None, kept.revoked_at) == (False, None)
    assert AuditRecord.objects.filter(action="link.revoked", object_id=link.id).count() == 1
    if way == "demoted":
        set_role(team, team.bob, "editor")
    assert_refused(token, team.charlie)


def test_a_link_for_editors_works_once_and_one_for_suggesters_any_number_of_times(team):
    one, first = make_link(team, "editor")
    many, second = make_link(team, "suggester")
    assert (one.max_uses, many.max_uses) == (1, None)
    people = [make_person(name) for name in ("Dora", "Emil")]
    chats.accept_link(people[0], first)
    chats.accept_link(people[0], first)  # a second click
    assert_refused(first, people[1])
    for person in [*people, team.charlie]:
        chats.accept_link(person, second)
    assert ChatLink.objects.get(pk=one.pk).uses == 1


def test_a_link_that_is_used_up_is_not_listed_and_does_not_count_for_the_quota(team, settings):
    set_role(team, team.bob, "editor")
    settings.QUOTAS = {**settings.QUOTAS, "links": 1}
    _, token = make_link(team, "editor", creator=team.bob)
    with pytest.raises(QuotaReached):
        make_link(team, "editor", creator=team.bob)
    chats.accept_link(make_person("dana"), token)
    link, _ = make_link(team, "suggester", creator=team.bob)
    path = f"workspaces/{team.workspace.id}/members/{team.bob.id}/links"
    assert [row["id"] for row in client_for(team, "alice").ok("GET", path)["results"]] == [str(link.id)]


def test_max_uses_can_be_set(team):
    _, token = make_link(team, "editor", max_uses=2)
    for name in ("Dora", "Emil"):
        chats.accept_link(make_person(name), token)
    assert_refused(token, team.charlie)
    for wrong in (0, -1, 1001):
        with pytest.raises(Invalid):
            make_link(team, max_uses=wrong)


@pytest.mark.django_db(transaction=True)
def test_two_people_cannot_use_a_link_for_one_person_at_the_same_time():
    team = make_team()
    dora = make_person("Dora")
    _, token = make_link(team, "editor")
    with transaction.atomic():
        chats.accept_link(dora, token)
        second = ConcurrentTransaction(lambda: chats.accept_link(team.charlie, token))
    with pytest.raises(NotFound):
        second.result()
    assert get_role(team, team.charlie) is None


def test_a_person_who_may_remove_a_member_can_list_their_links(team):
    set_role(team, team.bob, "editor")
    link, _ = make_link(team, creator=team.bob)
    ended, _ = make_link(team, creator=team.bob)
    chats.revoke_link(team.bob, ended.id)
    make_link(team)
    path = f"workspaces/{team.workspace.id}/members/{team.bob.id}/links"
    [row] = client_for(team, "alice").ok("GET", path)["results"]
    assert (row["id"], row["max_uses"], row["url"]) == (str(link.id), None, None)
    listed = client_for(team, "alice").ok("GET", f"chats/{team.chat.id}/links")["results"]
    assert str(link.id) in [row["id"] for row in listed]
    assert str(ended.id) not in [row["id"] for row in listed]


def test_max_uses_can_be_set_by_the_api(team):
    alice = client_for(team, "alice")
    path = f"chats/{team.chat.id}/links"
    made = [
        alice.ok("POST", path, body)["max_uses"]
        for body in ({"role": "editor"}, {"role": "editor", "max_uses": None}, {"role": "suggester", "max_uses": 3})
    ]
    assert made == [1, None, 3]
    alice.refused(400, "invalid", "POST", path, {"role": "editor", "max_uses": 0})


def test_a_suggester_with_the_grant_to_invite_can_invite_suggesters_only(team):
    bob, links = client_for(team, "bob"), f"chats/{team.chat.id}/links"
    bob.refused(403, "forbidden", "POST", links, {"role": "suggester"})
    grant_right(team.bob, "invite_workspace", team.workspace)
    made = bob.ok("POST", links, {"role": "suggester"})
    before = fingerprint()
    bob.refused(403, "forbidden", "POST", links, {"role": "editor"})
    assert fingerprint() == before
    dana = make_person("dana")
    chats.accept_link(dana, made["url"].rsplit("/", 1)[1])
    assert get_role(team, dana) == "suggester"


def test_the_grant_to_invite_is_limited_to_own_chats_and_to_links_for_suggesters(team):
    grant_right(team.bob, "invite_workspace", team.workspace)
    private = chats.create_chat(team.alice, team.workspace.id, title="Private")
    link, _ = make_link(team, "editor")
    bob = client_for(team, "bob")
    before = fingerprint()
    bob.refused(404, "not_found", "POST", f"chats/{private.id}/links", {"role": "suggester"})
    bob.refused(403, "forbidden", "DELETE", f"links/{link.id}")
    assert fingerprint() == before


def test_links_are_revoked_with_the_grant_to_invite_of_their_creator(team):
    operator = make_operator()
    grant = grant_right(team.bob, "invite_workspace", team.workspace)
    link, token = make_link(team, creator=team.bob)
    with transaction.atomic():
        grants.revoke_grant(grant, operator)
    assert_refused(token, make_person("dana"))
    grant_right(team.bob, "invite_workspace", team.workspace)
    assert_refused(token, make_person("erin"))
    link.refresh_from_db()
    assert link.revoked_at is not None
    assert AuditRecord.objects.filter(action="link.revoked", object_id=link.id, actor=operator).exists()


def test_an_editor_keeps_links_when_a_grant_to_invite_is_revoked(team):
    grant = grant_right(team.alice, "invite_workspace", team.workspace)
    _, token = make_link(team)
    with transaction.atomic():
        grants.revoke_grant(grant, make_operator())
    assert chats.get_invitation(token)[1] == "suggester"
