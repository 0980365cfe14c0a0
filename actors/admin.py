"""The admin pages of people, agents, API tokens, viewings and changes of email addresses."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from actors import services as actors
from actors.models import Actor, AgentStatus, ApiToken, EmailChange, Viewing
from actors.operators import Level, check_may_manage, get_level
from admin_kit.actions import RedirectTo, service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin, action_menu

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

STATUS_LABELS = {
    "active": _("active"),
    "closed": _("closed"),
    "ready": _("ready"),
    "suspended": _("suspended"),
    "deleted": _("deleted"),
}
STATUS_COLOURS = {"active": "success", "closed": "danger", "ready": "success", "suspended": "warning"}
FIELDS_OF_PEOPLE = ("email", "language", "last_login", "level")
FIELDS_OF_AGENTS = (
    "normalized_name",
    "description",
    "workspace",
    "current_spec",
    "accepts_tasks",
    "role",
    "parent",
    "runs_outside",
    "is_public",
    "is_shipped",
    "published_at",
    "published_by_workspace",
    "published_from_agent",
    "taken_down_at",
)


def is_person(actor: Actor) -> bool:
    return actor.is_human


def is_agent(actor: Actor) -> bool:
    return actor.is_agent


def build_list_link(
    description: "StrOrPromise", model: str, foreign_key: str, is_shown: Callable[[Any], bool] = lambda actor: True
) -> RelatedLink:
    """Return a link from the page of an actor to the rows of `model` whose `foreign_key` refers to the actor."""
    return RelatedLink(description, model, f"{foreign_key}__id__exact", is_shown=is_shown)


class LevelForm(BaseDialogForm):  # type: ignore[misc]  # unfold has no types
    """The form for the access level of a person."""

    level = forms.ChoiceField(choices=Level.choices, widget=UnfoldAdminSelectWidget, label=_("Access level"))

    def __init__(self, request: HttpRequest, object_id: Any = None, *args: Any, **kwargs: Any) -> None:
        person = Actor.objects.filter(pk=object_id).first()
        super().__init__(request, object_id, *args, initial={"level": get_level(person) if person else None}, **kwargs)


class ViewingForm(BaseDialogForm):  # type: ignore[misc]  # unfold has no types
    """The form to view as a person."""

    reason = forms.CharField(max_length=400, widget=UnfoldAdminTextInputWidget, label=_("Reason"))
    password = forms.CharField(
        max_length=500,
        strip=False,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "current-password"}),
        label=_("Your password"),
    )


@admin.register(Actor)
class ActorAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "kind",
        "handle",
        "email",
        link_column("workspace"),
        "coloured_status",
        "is_staff",
        "created_at",
    )
    list_filter = ("kind", "is_active", "status", "is_public", "is_staff")
    list_select_related = ("workspace",)
    search_fields = ("name", "handle", "email")
    date_hierarchy = "created_at"
    exclude = ("password",)
    readonly_fields = ("status_label", "level")
    related_links = (
        build_list_link(_("Memberships"), "workspaces.membership", "actor", is_person),
        build_list_link(_("API tokens"), "actors.apitoken", "actor"),
        build_list_link(_("Viewings as this person"), "actors.viewing", "person", is_person),
        build_list_link(_("Viewings by this person"), "actors.viewing", "operator", is_person),
        build_list_link(_("Chats"), "chats.chatactor", "actor"),
        build_list_link(_("Versions"), "agents.agentspec", "agent", is_agent),
        build_list_link(_("Drafts"), "agents.draft", "agent", is_agent),
        build_list_link(_("Drafts being edited"), "agents.draft", "lock_holder", is_person),
        build_list_link(_("Runs"), "runs.run", "agent", is_agent),
        build_list_link(_("Runs for them"), "runs.run", "on_behalf_of", is_person),
        build_list_link(_("Model calls"), "usage.llmcall", "agent", is_agent),
        build_list_link(_("Access granted to it"), "agents.agentgrant", "content_object", is_agent),
        build_list_link(_("Granted: workspaces"), "workspaces.workspacegrant", "user", is_person),
        build_list_link(_("Granted: chats"), "chats.chatgrant", "user", is_person),
        build_list_link(_("Granted: agents"), "agents.agentgrant", "user", is_person),
        RelatedLink(_("Grant access to it…"), "agents.agentgrant", "content_object", is_shown=is_agent, is_add=True),
        RelatedLink(_("Grant access to an agent…"), "agents.agentgrant", "user", is_shown=is_person, is_add=True),
        RelatedLink(_("… on a chat…"), "chats.chatgrant", "user", is_shown=is_person, is_add=True),
        RelatedLink(_("… on a workspace…"), "workspaces.workspacegrant", "user", is_shown=is_person, is_add=True),
        audit_link(),
    )
    audit_prefixes = ("member", "person", "profile", "password", "sessions", "viewing", "agent", "spec")
    actions = ("deactivate", "activate", "sign_out", "revoke_tokens", "suspend_agent", "resume_agent")
    actions_detail = action_menu(
        "deactivate",
        "activate",
        "reset_link",
        "start_viewing",
        "sign_out",
        "revoke_tokens",
        "set_access_level",
        "suspend_agent",
        "resume_agent",
    )

    def get_fields(self, request: HttpRequest, obj: Actor | None = None) -> Any:
        own = FIELDS_OF_AGENTS if obj is not None and obj.is_agent else FIELDS_OF_PEOPLE
        return ("name", "handle", "kind", "status_label", *own, "created_at", "id")

    @display(description=_("status"), label=STATUS_COLOURS)  # type: ignore[untyped-decorator]
    def coloured_status(self, actor: Actor) -> "tuple[str, StrOrPromise]":
        status = self._get_status(actor)
        return status, STATUS_LABELS[status]

    @admin.display(description=_("status"))
    def status_label(self, actor: Actor) -> "StrOrPromise":
        """Return the label of the status: of a person's account, or of an agent."""
        return STATUS_LABELS[self._get_status(actor)]

    def _get_status(self, actor: Actor) -> str:
        if actor.is_agent:
            return actor.status
        return "active" if actor.is_active else "closed"

    @admin.display(description=_("in this admin"))
    def level(self, actor: Actor) -> str:
        return str(get_level(actor).label)

    @service_action(
        _("Close the account"),
        _("Signed out at once, everywhere. API tokens are revoked, also those that they made for agents."),
        icon="block",
        is_dangerous=True,
        is_available=lambda actor: actor.is_human and actor.is_active,
    )
    def deactivate(self, person: Actor, operator: Actor) -> None:
        actors.deactivate_person(operator, person.pk)

    @service_action(
        _("Open the account again"),
        _("They can sign in again, and make new API tokens."),
        icon="check",
        is_available=lambda actor: actor.is_human and not actor.is_active,
    )
    def activate(self, person: Actor, operator: Actor) -> None:
        actors.activate_person(operator, person.pk)

    @service_action(
        _("Create a password reset link"),
        _("For who gets no mail. Give it to nobody else: whoever opens it first has the account."),
        icon="password",
        is_available=lambda actor: actor.is_human and actor.is_active,
    )
    def reset_link(self, person: Actor, operator: Actor) -> str:
        check_may_manage(operator, person)
        return actors.create_reset_link(person, web_app_url=settings.WEB_APP_URL, operator=operator)

    @service_action(
        _("View as this person"),
        _("You see the web app as they see it, and can change nothing. They see when, by whom and why it was done."),
        icon="visibility",
        is_available=lambda actor: actor.is_human and actor.is_active,
        form_class=ViewingForm,
        needs_session=True,
    )
    def start_viewing(
        self, person: Actor, operator: Actor, reason: str, password: str, session: SessionBase
    ) -> RedirectTo:
        actors.start_viewing(operator, person.pk, session=session, reason=reason, password=password)
        return RedirectTo("/")

    @service_action(
        _("Sign out everywhere"),
        _("All sessions end at once; API tokens stay."),
        icon="logout",
        asks_reason=True,
        is_available=is_person,
    )
    def sign_out(self, person: Actor, operator: Actor) -> None:
        actors.end_sessions_as_operator(operator, person.pk)

    @service_action(
        _("Revoke all API tokens"),
        _("Their programs are cut off at once."),
        icon="key_off",
        is_dangerous=True,
        is_available=is_person,
    )
    def revoke_tokens(self, person: Actor, operator: Actor) -> None:
        actors.revoke_tokens(operator, person.pk, as_operator=True)

    @service_action(
        _("Access level"),
        _("Readers and operators of this installation."),
        icon="badge",
        asks_reason=True,
        is_available=is_person,
        form_class=LevelForm,
    )
    def set_access_level(self, person: Actor, operator: Actor, level: str) -> None:
        actors.set_access_level(operator, person, level=level)

    @service_action(
        _("Suspend"),
        _("It starts nothing new, anywhere."),
        icon="pause",
        asks_reason=True,
        is_available=lambda actor: actor.is_agent and actor.status == AgentStatus.READY,
    )
    def suspend_agent(self, agent: Actor, operator: Actor) -> None:
        actors.suspend_agent(operator, agent.pk)

    @service_action(
        _("Resume"),
        _("It answers again."),
        icon="play_arrow",
        is_available=lambda actor: actor.is_agent and actor.status == AgentStatus.SUSPENDED,
    )
    def resume_agent(self, agent: Actor, operator: Actor) -> None:
        actors.resume_agent(operator, agent.pk)


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "prefix",
        link_column("actor"),
        "scope",
        "created_at",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), CreatedWithinFilter)
    list_select_related = ("actor",)
    search_fields = ("name", "prefix", "actor__name", "actor__email")
    search_id_fields = ("actor_id",)
    exclude = ("digest",)
    audit_prefixes = ("token",)
    actions = ("revoke",)
    actions_detail = ("revoke",)

    @service_action(
        _("Revoke"),
        _("The program that uses it is cut off at once."),
        icon="key_off",
        is_dangerous=True,
        is_available=lambda token: token.revoked_at is None,
    )
    def revoke(self, token: ApiToken, operator: Actor) -> None:
        actors.revoke_token(operator, token.pk, as_operator=True)


@admin.register(Viewing)
class ViewingAdmin(ReadOnlyAdmin):
    list_display = (
        "started_at",
        link_column("operator"),
        link_column("person"),
        "reason",
        "ends_at",
        "ended_at",
        link_column("ended_by"),
    )
    list_filter = (("ended_at", admin.EmptyFieldListFilter),)
    list_select_related = ("operator", "person", "ended_by")
    search_fields = ("operator__name", "person__name", "reason")
    search_id_fields = ("operator_id", "person_id")
    date_hierarchy = "started_at"
    actions = ("end_viewing",)
    actions_detail = ("end_viewing",)

    @service_action(
        _("End the viewing"),
        _("The operator is shown their own account at once."),
        icon="visibility_off",
        is_available=lambda viewing: viewing.ended_at is None,
    )
    def end_viewing(self, viewing: Viewing, operator: Actor) -> None:
        actors.end_viewing(operator, viewing.pk)


@admin.register(EmailChange)
class EmailChangeAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("person"), "email", "expires_at")
    list_select_related = ("person",)
    search_fields = ("person__name", "person__email")
    search_id_fields = ("person_id",)
    exclude = ("digest",)
    ordering = ("-created_at",)
