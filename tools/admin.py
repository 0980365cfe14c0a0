"""The admin pages of workspace tools, their servers, and the policies for tools."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from tools.models import ServerAuthorization, ToolPolicy, ToolServer, WorkspaceTool


@admin.register(ToolServer)
class ToolServerAdmin(ReadOnlyAdmin):
    list_display = ("name", "kind", link_column("workspace"), "base_url", "auth", "credential_last4", "state")
    list_filter = ("kind", "auth", "state", CreatedWithinFilter)
    list_select_related = ("workspace",)
    search_fields = ("name", "base_url", "workspace__name")
    search_id_fields = ("workspace_id",)
    exclude = ("encrypted_credential",)
    related_links = (RelatedLink(_("Tools"), "tools.workspacetool", "server__id__exact"),)
    audit_prefixes = ("tool_server",)


@admin.register(ServerAuthorization)
class ServerAuthorizationAdmin(ReadOnlyAdmin):
    list_display = (link_column("server"), link_column("signed_in_by"), "expires_at")
    list_select_related = ("server", "signed_in_by")
    search_fields = ("server__name", "server__workspace__name")
    search_id_fields = ("server_id",)
    exclude = ("encrypted_secrets",)


@admin.register(WorkspaceTool)
class WorkspaceToolAdmin(ReadOnlyAdmin):
    list_display = ("name", link_column("server"), link_column("workspace"), "effect", "is_enabled", "off_reason")
    list_filter = ("effect", "is_enabled", "off_reason", CreatedWithinFilter)
    list_select_related = ("workspace", "server")
    search_fields = ("name", "title", "workspace__name", "server__name")
    search_id_fields = ("workspace_id", "server_id")
    audit_prefixes = ("tool",)


@admin.register(ToolPolicy)
class ToolPolicyAdmin(ReadOnlyAdmin):
    list_display = ("tool", "policy", link_column("workspace"))
    list_filter = ("policy",)
    list_select_related = ("workspace",)
    search_fields = ("tool", "workspace__name")
    search_id_fields = ("workspace_id",)
