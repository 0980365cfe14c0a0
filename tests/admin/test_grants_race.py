"""A grant is added while its person leaves the workspace: no grant remains, whichever transaction is first."""

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction

from agents.models import AgentGrant
from common.errors import Invalid
from tests.concurrency import ConcurrentTransaction
from tests.people import make_operator, make_team
from workspaces import services as workspaces
from workspaces.grants import add_grant
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


def test_SEC5_a_grant_that_is_added_while_its_person_leaves_does_not_remain():
    team, operator = make_team(), make_operator()
    verb = Permission.objects.get(codename="save_agent_actor")

    def leave():
        workspace = Workspace.objects.select_for_update(no_key=True).get(pk=team.workspace.pk)
        workspaces.remove_member(team.alice, workspace.id, team.bob.id)

    def grant():
        add_grant(AgentGrant, operator=operator, person=team.bob, permission=verb, target=team.robin)

    with transaction.atomic():
        grant()
        leaving = ConcurrentTransaction(leave)
    leaving.result()
    assert not AgentGrant.objects.exists()
    workspaces.join_workspace(team.bob, team.workspace.id, role="suggester", invited_by=team.alice)
    with transaction.atomic():
        leave()
        giving = ConcurrentTransaction(grant)
    with pytest.raises(Invalid):
        giving.result()
    assert not AgentGrant.objects.exists()
