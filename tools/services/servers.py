"""Creating, changing and deleting the servers of a workspace's tools."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.egress import check_url, list_hosts_without_path
from common.errors import Code, Conflict, Invalid
from common.quotas import check_quota
from common.secrets import Secret
from common.text import normalize_name
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import AuthScheme, ServerKind, ServerState
from mcp_client.client import check_server_url
from tools.credentials import MIN_CHARACTERS, check_no_credential_argument, encrypt_credential
from tools.http.mapping import check_header_name, check_header_value
from tools.models import ToolPolicy, ToolServer
from tools.permissions import get_server_for
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_HEADERS = 20
MCP_SCHEMES = (AuthScheme.NONE, AuthScheme.BEARER, AuthScheme.HEADER, AuthScheme.OAUTH)
"""How we can sign in at an MCP server."""
_NAMED_SCHEMES = (AuthScheme.HEADER, AuthScheme.BASIC, AuthScheme.QUERY)
"""The ways to sign in that need `auth_name`."""


@transaction.atomic
def create_server(
    actor: Actor,
    workspace_id: UUID,
    *,
    kind: ServerKind,
    name: str,
    base_url: str,
    auth: AuthScheme = AuthScheme.NONE,
    auth_name: str = "",
    credential: Secret | None = None,
    headers: Mapping[str, str] | None = None,
) -> ToolServer:
    """Add a server. No request is sent.

    Raises `NotFound`, `Forbidden`, `Invalid` (also `host_refused`), `Conflict` for a name that is taken, `QuotaReached`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_TOOLS, lock=True)
    check_quota("tool_servers", ToolServer.objects.filter(workspace=workspace))
    server = ToolServer(workspace=workspace, kind=kind)
    credential = credential or Secret("")
    _set_fields(server, name=name, base_url=base_url, auth=auth, auth_name=auth_name, headers=headers or {})
    if kind == ServerKind.MCP:
        _check_mcp_connection(server, auth_name, credential)
    _set_credential(server, credential)
    server.save(force_insert=True)
    _record(actor, "tool_server.added", server)
    return server


@transaction.atomic
def change_server(
    actor: Actor, server_id: UUID, *, revision: int, credential: Secret | None = None, **changes: Any
) -> ToolServer:
    """Change `name`, `base_url`, `auth`, `auth_name`, `headers` or the credential of a server. Of an MCP server, only the name and
    the credential can be changed.

    `credential` null keeps the stored one if address and sign-in are unchanged; otherwise it is deleted, so that a person who
    cannot read it cannot send it to another server. Raises `NotFound`, `Forbidden`, `Invalid` (also `host_refused`), `Conflict`.
    """
    server = get_server_for(actor, server_id, lock=True)
    if server.revision != revision:
        raise Conflict("Somebody else has changed the server meanwhile.", hints=["Look again, then change it."])
    if server.kind == ServerKind.MCP and changes.keys() - {"name"}:
        raise Invalid("Only the name of an MCP server can be changed.", hints=["Add it anew with the other address."])
    before = (server.base_url, server.auth, server.auth_name)
    fields = {name: getattr(server, name) for name in ("name", "base_url", "auth", "auth_name", "headers")}
    _set_fields(server, **fields | changes)
    if server.kind == ServerKind.MCP and credential:
        _check_mcp_connection(server, server.auth_name, credential)
    if credential is not None or before != (server.base_url, server.auth, server.auth_name):
        for request in server.tools.values_list("request", flat=True):
            check_no_credential_argument(server, request)
        _set_credential(server, credential or Secret(""))
        server.state, server.tested_at = ServerState.UNTESTED, None
        server.error_code = server.last_error = ""
    server.revision += 1
    server.save()
    _record(actor, "tool_server.changed", server)
    return server


@transaction.atomic
def delete_server(actor: Actor, server_id: UUID) -> None:
    """Delete a server with its tools and their policies. Specs keep the names; agents work without the tools. Raises `NotFound`,
    `Forbidden`."""
    server = get_server_for(actor, server_id, lock=True)
    names = list(server.tools.values_list("name", flat=True))
    ToolPolicy.objects.filter(workspace=server.workspace_id, tool__in=names).delete()
    _record(actor, "tool_server.deleted", server)
    server.delete()


def _set_fields(
    server: ToolServer, *, name: str, base_url: str, auth: AuthScheme, auth_name: str, headers: Mapping[str, str]
) -> None:
    """Set the checked fields. Raises `Invalid`, also `host_refused`, and `Conflict` for a name that is taken."""
    name, auth_name = normalize_name(name), auth_name.strip()
    if not 1 <= len(name) <= 80:
        raise Invalid("A name has between 1 and 80 characters.")
    if ToolServer.objects.filter(workspace=server.workspace_id, name=name).exclude(pk=server.pk).exists():
        raise Conflict("A server of this name is there already.", code=Code.HANDLE_TAKEN)
    if server.kind != ServerKind.MCP:
        _check_connection(base_url, auth, auth_name, headers)
    server.name, server.base_url, server.headers = name, base_url.strip(), dict(headers)
    server.auth, server.auth_name = auth, auth_name if auth in _NAMED_SCHEMES else ""


def _check_connection(base_url: str, auth: AuthScheme, auth_name: str, headers: Mapping[str, str]) -> None:
    if "?" in base_url or "#" in base_url:
        raise Invalid("The address must not have a query or a fragment.")
    check_url(base_url.strip(), list_hosts_without_path())
    if auth == AuthScheme.OAUTH:
        raise Invalid("Only an MCP server has people sign in.")
    if auth in _NAMED_SCHEMES and not auth_name:
        raise Invalid("This way to sign in needs a name: of the header, the parameter or the user.")
    if len(headers) > MAX_HEADERS:
        raise Invalid(f"A server can have {MAX_HEADERS} headers.")
    try:
        for header, value in headers.items():
            check_header_name(header)
            check_header_value(value)
        if auth == AuthScheme.HEADER and auth_name.lower() != "authorization":
            check_header_name(auth_name)
        check_header_value(auth_name)
    except ValueError as error:
        raise Invalid(str(error)) from error


def _check_mcp_connection(server: ToolServer, auth_name: str, credential: Secret) -> None:
    check_server_url(server.base_url)
    if server.auth not in MCP_SCHEMES:
        raise Invalid("An MCP server takes no credential, a token, a header, or a sign-in.")
    needs_credential = server.auth in (AuthScheme.BEARER, AuthScheme.HEADER)
    if bool(credential) != needs_credential or (credential and len(credential.reveal()) < MIN_CHARACTERS):
        raise Invalid(
            "The credential is missing or too short." if needs_credential else "There is no credential to store."
        )
    try:
        if server.auth == AuthScheme.HEADER:
            check_header_name(auth_name)
        check_header_value(credential.reveal())
    except ValueError as error:
        raise Invalid(str(error)) from error


def _set_credential(server: ToolServer, credential: Secret) -> None:
    plain = credential.reveal()
    if plain and (len(plain) < MIN_CHARACTERS or server.auth == AuthScheme.NONE):
        raise Invalid(f"A credential has at least {MIN_CHARACTERS} characters and needs a way to sign in.")
    try:
        check_header_value(plain)
    except ValueError as error:
        raise Invalid("A credential is one line.") from error
    server.encrypted_credential = encrypt_credential(server, credential)
    server.credential_last4 = plain[-4:] if len(plain) > 11 else ""  # of a short one they would reveal too much


def _record(actor: Actor, action: str, server: ToolServer) -> None:
    audit.record(
        actor,
        action,
        workspace_id=server.workspace_id,
        object_id=server.id,
        kind=server.kind,
        host=urlsplit(server.base_url).netloc,
    )
    publish_workspace_list_changed(server.workspace_id, "tools")
