"""The tools that a workspace has added, the servers that they call, and its policies for tools."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.models import Identified, WithRevision, build_display_name
from events.rows import AuthScheme, OffReason, Policy, ServerKind, ServerState, ToolType
from workspaces.models import Workspace

EFFECTS = [("read", _("read")), ("write", _("write"))]


class ToolServer(Identified, WithRevision):
    """A server that tools of a workspace call, and how they sign in there.

    `encrypted_credential` is bound to the server by its id: `common.secrets.encrypt_for(owner=str(id), purpose=PURPOSE)`. It is
    never shown, and deleted when the address changes, so that a person who cannot read it cannot send it to another server.
    `auth_name`: the header, the query parameter or the user name. `headers` are sent with each request; they hold no secret.
    `error_code`: an `MCPErrorCode`, why an MCP server has failed; empty for others. `document_url`, `document_hash`: of the OpenAPI
    document that was imported last; empty for others.
    """

    PURPOSE = "tool-credential"

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="tool_servers"
    )
    kind = models.CharField(_("kind"), max_length=8, choices=ServerKind.choices)
    name = models.CharField(_("name"), max_length=80)
    base_url = models.CharField(_("base url"), max_length=400)
    auth = models.CharField(_("sign-in"), max_length=8, choices=AuthScheme.choices, default=AuthScheme.NONE)
    auth_name = models.CharField(_("sign-in name"), max_length=80, blank=True, default="")
    encrypted_credential = models.TextField(_("encrypted credential"), blank=True, default="")
    credential_last4 = models.CharField(_("credential last4"), max_length=4, blank=True, default="")
    headers = models.JSONField(_("headers"), default=dict, blank=True)
    document_url = models.CharField(_("document url"), max_length=2000, blank=True, default="")
    document_hash = models.CharField(_("document hash"), max_length=64, blank=True, default="")
    state = models.CharField(_("state"), max_length=8, choices=ServerState.choices, default=ServerState.UNTESTED)
    tested_at = models.DateTimeField(_("tested at"), null=True)
    error_code = models.CharField(_("error code"), max_length=20, blank=True, default="")
    last_error = models.CharField(_("last error"), max_length=500, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("tool server")
        verbose_name_plural = _("tool servers")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="server_names_unique"),
            models.CheckConstraint(condition=Q(kind__in=ServerKind.values), name="server_kind_known"),
            models.CheckConstraint(condition=Q(auth__in=AuthScheme.values), name="server_auth_known"),
            models.CheckConstraint(condition=Q(state__in=ServerState.values), name="server_state_known"),
        ]

    def __str__(self) -> str:
        return self.name


class ServerAuthorization(Identified):
    """What an authorization server knows of us, and the tokens that it gave for a server (OAuth).

    `authorization_server`: `mcp_client.oauth.AuthorizationServer`. `encrypted_secrets`: our secret there and the tokens, bound to
    the server by its id: `common.secrets.encrypt_for(owner=str(server_id), purpose=PURPOSE)`. `signed_in_by` is the person whose
    rights on the server all agents of the workspace have. `expires_at`: of the access token, null if it is not known.
    """

    PURPOSE = "tool-authorization"

    server = models.OneToOneField(
        ToolServer, verbose_name=_("server"), on_delete=models.CASCADE, related_name="authorization"
    )
    authorization_server = models.JSONField(_("authorization server"))
    encrypted_secrets = models.TextField(_("encrypted secrets"))
    signed_in_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("signed in by"), on_delete=models.SET_NULL, null=True, related_name="+"
    )
    expires_at = models.DateTimeField(_("expires at"), null=True)

    class Meta:
        verbose_name = _("tool server sign-in")
        verbose_name_plural = _("tool server sign-ins")

    def __str__(self) -> str:
        return build_display_name(self, "server")


class WorkspaceTool(Identified, WithRevision):
    """A tool of a workspace. Its name is unique there and not that of a system tool; specs name tools by it.

    `request`: how the arguments become a request (`tools.http.mapping.RequestMapping`); empty for MCP. `annotations`: what an MCP
    server says of the tool besides. `remote_name`: its name on the MCP server, or its operation's id or `METHOD path`.
    `pinned_hash`: of the definition that an editor approved; empty if none is. `pending`: a definition that waits for approval: of
    a new tool of an MCP server, or a changed one of any server. The tool is off until an editor approves it.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="workspace_tools"
    )
    server = models.ForeignKey(ToolServer, verbose_name=_("server"), on_delete=models.CASCADE, related_name="tools")
    tool_type = models.CharField(_("type"), max_length=9, choices=ToolType.choices, default=ToolType.WORKSPACE)
    name = models.CharField(_("name"), max_length=64)
    remote_name = models.CharField(_("remote name"), max_length=400, blank=True, default="")
    title = models.CharField(_("title"), max_length=120, blank=True, default="")
    description = models.TextField(_("description"))
    effect = models.CharField(_("effect"), max_length=5, choices=EFFECTS)
    is_idempotent = models.BooleanField(_("is idempotent"), default=False)
    timeout_s = models.FloatField(_("time limit in seconds"), default=30.0)
    input_schema = models.JSONField(_("input schema"), default=dict)
    output_schema = models.JSONField(_("output schema"), null=True)
    request = models.JSONField(_("request"), default=dict)
    annotations = models.JSONField(_("annotations"), default=dict)
    pinned_hash = models.CharField(_("pinned hash"), max_length=64, blank=True, default="")
    pending = models.JSONField(_("pending definition"), null=True)
    is_enabled = models.BooleanField(_("is enabled"), default=True)
    off_reason = models.CharField(_("off reason"), max_length=8, choices=OffReason.choices, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("workspace tool")
        verbose_name_plural = _("workspace tools")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="tool_names_unique"),
            models.CheckConstraint(condition=Q(effect__in=["read", "write"]), name="tool_effect_known"),
            models.CheckConstraint(
                condition=Q(is_enabled=True, off_reason="") | Q(is_enabled=False, off_reason__in=OffReason.values),
                name="a_tool_that_is_off_has_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def apply_definition(self, definition: Mapping[str, Any]) -> None:
        """Set what a model reads and what is sent, by a definition in the form of `pending`. Its `effect` is not applied: an
        editor sets that."""
        self.title = definition["title"][:120]
        self.description = definition["description"]
        self.input_schema = definition["input_schema"]
        self.output_schema = definition["output_schema"]
        self.request = definition.get("request", {})
        self.annotations = definition.get("annotations", {})


class ToolPolicy(Identified):
    """The policy that the editors of a workspace have set for a tool. It applies to all its agents, drafts and versions.

    A tool without a row has its default policy (`Tool.default_policy`). The name is no foreign key: system tools have no row.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="tool_policies"
    )
    tool = models.CharField(_("tool"), max_length=64)
    policy = models.CharField(_("policy"), max_length=4, choices=Policy.choices)

    class Meta:
        verbose_name = _("tool policy")
        verbose_name_plural = _("tool policies")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "tool"], name="one_policy_per_tool"),
            models.CheckConstraint(condition=Q(policy__in=Policy.values), name="tool_policy_known"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} · {self.get_policy_display()}"
