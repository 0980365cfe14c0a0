"""Factories of rows of a workspace."""

from typing import Any

from django.contrib.auth.models import Permission
from factory.declarations import LazyFunction
from factory.django import DjangoModelFactory

from actors.models import Actor
from agents.models import AgentGrant
from chats.models import Chat, ChatGrant
from common.clock import now
from events.rows import Role
from workspaces.models import Credential, DeletedMembership, PastMembership, Workspace, WorkspaceGrant


class PastMembershipFactory(DjangoModelFactory[PastMembership]):
    """A membership that has just ended."""

    class Meta:
        model = PastMembership

    role = Role.SUGGESTER
    ended_at = LazyFunction(now)


class DeletedMembershipFactory(DjangoModelFactory[DeletedMembership]):
    """A membership of a workspace that has just been deleted."""

    class Meta:
        model = DeletedMembership

    role = Role.SUGGESTER
    joined_at = LazyFunction(now)


class CredentialFactory(DjangoModelFactory[Credential]):
    """The model of a workspace, without a key."""

    class Meta:
        model = Credential

    provider = "openai"
    default_model = "gpt"


def grant_right(user: Actor, codename: str, target: Workspace | Chat | Actor) -> Any:
    """Give a person a right on one workspace, chat or agent beyond their role, as the admin does. Return the row."""
    model: Any = {Workspace: WorkspaceGrant, Chat: ChatGrant, Actor: AgentGrant}[type(target)]
    permission = Permission.objects.get(codename=codename)
    return model.objects.create(user=user, permission=permission, content_object=target)
