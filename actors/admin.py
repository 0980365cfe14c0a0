"""People and agents, for operators."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminSelectWidget

from actors import services as actors
from actors.models import Actor, AgentStatus, ApiToken
from actors.operators import Level, check_rank, level_of, set_level
from events.admin_deeds import Deed
from events.admin_lists import Related, When, linked
from events.admin_pages import Read

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise as Text


def is_person(actor: Actor) -> bool:
    return actor.is_human


def is_agent(actor: Actor) -> bool:
    return actor.is_agent


def by(label: "Text", table: str, column: str, when: Any = lambda actor: True) -> Related:
    """A list that is narrowed to this actor by a foreign key."""
    return Related(label, table, f"{column}__id__exact", when=when)


def reset_link(person: Actor, operator: Actor) -> str:
    """The service, with the arguments of a deed; for who is no operator, or it would be a way up."""
    check_rank(person, operator)
    return actors.make_reset_link(person, address=settings.ADDRESS, by=operator)


def sign_out(person: Actor, operator: Actor) -> None:
    """The service, with the arguments of a deed."""
    check_rank(person, operator)
    actors.end_sessions(person, by=operator)


def revoke_tokens(person: Actor, operator: Actor) -> None:
    """The service, for each token that lives."""
    check_rank(person, operator)
    for token in ApiToken.live.filter(person=person):
        actors.revoke_token(token, operator)


class LevelForm(BaseDialogForm):  # type: ignore[misc]  # unfold has no types
    """How far somebody runs the installation."""

    level = forms.ChoiceField(choices=Level.choices, widget=UnfoldAdminSelectWidget, label=_("What they may do here"))

    def __init__(self, request: HttpRequest, object_id: Any = None, *args: Any, **kwargs: Any) -> None:
        person = Actor.objects.filter(pk=object_id).first()
        super().__init__(request, object_id, *args, initial={"level": level_of(person) if person else None}, **kwargs)


COLOURS = {"active": "success", "closed": "danger", "ready": "success", "suspended": "warning"}
STANDINGS = {"active": _("active"), "closed": _("closed"), "ready": _("ready"), "suspended": _("suspended"),
             "deleted": _("deleted")}  # fmt: skip


def _standing(actor: Actor) -> str:
    if actor.is_agent:
        return actor.status
    return "active" if actor.is_active else "closed"


OF_PEOPLE = ("email", "language", "last_login", "level")
OF_AGENTS = ("description", "workspace", "current_spec", "is_public", "is_shipped", "published_at", "published_by_workspace",
             "published_from_agent", "taken_down_at")  # fmt: skip


@admin.register(Actor)
class ActorAdmin(Read):
    list_display = ("name", "kind", "handle", "email", linked("workspace"), "stands", "is_staff", "created_at")
    list_filter = ("kind", "is_active", "status", "is_public", "is_staff")
    search_fields = ("name", "handle", "email")
    hidden = ("password",)
    joined = ("workspace",)
    date_hierarchy = "created_at"
    related = (
        by(_("Memberships"), "workspaces.membership", "actor", is_person),
        by(_("API tokens"), "actors.apitoken", "person", is_person),
        by(_("Chats"), "chats.chatactor", "actor"),
        by(_("Versions"), "agents.agentspec", "agent", is_agent),
        by(_("Drafts"), "agents.draft", "agent", is_agent),
        by(_("Drafts in hand"), "agents.draft", "holder", is_person),
        by(_("Runs"), "agents.run", "agent", is_agent),
        by(_("Runs for them"), "agents.run", "on_behalf_of", is_person),
        by(_("Model calls"), "agents.llmcall", "agent", is_agent),
        by(_("Granted rights on it"), "agents.agentgrant", "content_object", is_agent),
        by(_("Granted: workspaces"), "workspaces.workspacegrant", "user", is_person),
        by(_("Granted: chats"), "chats.chatgrant", "user", is_person),
        by(_("Granted: agents"), "agents.agentgrant", "user", is_person),
        Related(_("Grant a right on it…"), "agents.agentgrant", "content_object", when=is_agent, is_new=True),
        Related(_("Grant a right on an agent…"), "agents.agentgrant", "user", when=is_person, is_new=True),
        Related(_("… on a chat…"), "chats.chatgrant", "user", when=is_person, is_new=True),
        Related(_("… on a workspace…"), "workspaces.workspacegrant", "user", when=is_person, is_new=True),
        Related(_("Audit"), "events.auditrecord", "q"),
    )
    deeds = (
        Deed("deactivate", _("Close the account"), actors.deactivate,
             _("Signed out at once, everywhere: no sign-in, no socket, no request any more."), "block",
             when=lambda actor: actor.is_human and actor.is_active, is_grave=True),
        Deed("activate", _("Open the account again"), actors.activate, _("They can sign in again."), "check",
             when=lambda actor: actor.is_human and not actor.is_active),
        Deed("reset_link", _("Make a link to set a new password"), reset_link,
             _("For who gets no mail. Give it to nobody else: whoever opens it first has the account."), "password",
             when=lambda actor: actor.is_human and actor.is_active, in_bulk=False),
        Deed("sign_out", _("Sign out everywhere"), sign_out, _("All sessions end at once; API tokens stay."), "logout",
             when=is_person),
        Deed("revoke_tokens", _("Revoke all API tokens"), revoke_tokens, _("Their programs are cut off at once."), "key_off",
             when=is_person, is_grave=True),
        Deed("set_level", _("What they may do here"), set_level, _("Readers and operators of this installation."), "badge",
             when=is_person, form=LevelForm, in_bulk=False),
        Deed("suspend_agent", _("Suspend"), actors.suspend_agent, _("It starts nothing new, anywhere."), "pause",
             when=lambda actor: actor.is_agent and actor.status == AgentStatus.READY),
        Deed("resume_agent", _("Let it work again"), actors.resume_agent, _("It answers again."), "play_arrow",
             when=lambda actor: actor.is_agent and actor.status == AgentStatus.SUSPENDED),
    )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Actor | None = None) -> Any:
        """What there is of a person, or of an agent."""
        own = OF_AGENTS if obj is not None and obj.is_agent else OF_PEOPLE
        return ("name", "handle", "kind", "standing", *own, "created_at", "id")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("standing", "level")

    @display(description=_("standing"), label=COLOURS)  # type: ignore[untyped-decorator]
    def stands(self, actor: Actor) -> "tuple[str, Text]":
        """The same, in its colour."""
        return _standing(actor), self.standing(actor)

    @admin.display(description=_("standing"))
    def standing(self, actor: Actor) -> "Text":
        """Whether a person may sign in, or an agent may work."""
        return STANDINGS[_standing(actor)]

    @admin.display(description=_("in this admin"))
    def level(self, actor: Actor) -> str:
        """How far they run the installation."""
        return str(level_of(actor).label)


def revoke(token: ApiToken, operator: Actor) -> None:
    """The service, with the arguments of a deed."""
    check_rank(token.person, operator)
    actors.revoke_token(token, operator)


@admin.register(ApiToken)
class ApiTokenAdmin(Read):
    list_display = ("name", "prefix", linked("person"), "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), When)
    search_fields = ("name", "prefix", "person__name", "person__email")
    found_by = ("person_id",)
    hidden = ("digest",)
    joined = ("person",)
    deeds = (
        Deed("revoke", _("Revoke"), revoke, _("The program that uses it is cut off at once."), "key_off",
             when=lambda token: token.revoked_at is None, is_grave=True),
    )  # fmt: skip
