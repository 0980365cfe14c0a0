"""Add MCP servers to a workspace, list their tools again, and sign in at servers."""

import json
import secrets
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction

from common.clock import now
from common.errors import Invalid, NotFound
from common.secrets import Secret, decrypt_for, encrypt_for
from common.tasks import send_task_now
from events.rows import AuthScheme, ServerKind
from mcp_client.oauth import AuthorizationServer, build_authorize_url, build_redirect_uri, build_verifier
from tools.models import ServerAuthorization, ToolServer
from tools.permissions import get_server_for
from tools.services.servers import create_server

if TYPE_CHECKING:
    from actors.models import Actor

LIST_TASK = "worker.tasks.list_mcp_tools"
SIGN_IN_TASK = "worker.tasks.finish_mcp_sign_in"
SIGN_IN_SECONDS = 600
"""Seconds in which a browser must have come back from an authorization server."""
_SESSION_KEY = "mcp_sign_in"


SignInFailure = Literal["refused", "expired", "failed", "gone"]
"""Why a sign-in came to nothing. The web app has a text for each."""


class SignInFailed(Invalid):
    """The browser has come back from an authorization server without a sign-in that counts."""

    def __init__(self, reason: SignInFailure, message: str) -> None:
        super().__init__(message, hints=["Start it again."])
        self.reason = reason


@transaction.atomic
def add_mcp_server(
    actor: "Actor",
    workspace_id: UUID,
    *,
    name: str,
    base_url: str,
    auth: AuthScheme,
    auth_name: str,
    credential: Secret,
) -> ToolServer:
    """Add a server, and have a worker list its tools, which are all off. `auth_name`: the header that carries the credential.

    Raises what `create_server` raises.
    """
    server = create_server(
        actor,
        workspace_id,
        kind=ServerKind.MCP,
        name=name,
        base_url=base_url,
        auth=auth,
        auth_name=auth_name,
        credential=credential,
    )
    send = partial(current_app.send_task, LIST_TASK, [str(server.id), str(actor.pk)])
    transaction.on_commit(send, robust=True)
    return server


def request_tool_listing(actor: "Actor", server_id: UUID) -> ToolServer:
    """Have a worker list the tools of a server again. Raises `NotFound`, `Forbidden`, `Unavailable`."""
    server = get_server_for(actor, server_id, kind=ServerKind.MCP)
    send_task_now(LIST_TASK, [str(server.id), str(actor.pk)])
    return server


def start_sign_in(actor: "Actor", server_id: UUID, session: MutableMapping[str, Any]) -> str:
    """Return the address of the authorization server to which the browser is sent.

    `session`: of the browser; only it can finish the sign-in. Raises `NotFound`, `Forbidden`, `Invalid`.
    """
    server = get_server_for(actor, server_id, kind=ServerKind.MCP)
    authorization = ServerAuthorization.objects.filter(server=server).first()
    if server.auth != AuthScheme.OAUTH or authorization is None:
        raise Invalid("The server has not said where to sign in.", hints=["List its tools again."])
    state, verifier = secrets.token_urlsafe(32), build_verifier()
    stored = encrypt_for(Secret(verifier), owner=str(server.id), purpose=ServerAuthorization.PURPOSE)
    # One at a time: a later start ends an earlier one.
    session[_SESSION_KEY] = {
        "state": state,
        "server": str(server.id),
        "workspace": server.workspace.handle,
        "verifier": stored,
        "at": now().timestamp(),
    }
    found = AuthorizationServer.from_json(authorization.authorization_server)
    return build_authorize_url(
        found, redirect_uri=build_redirect_uri(settings.WEB_APP_URL, server.id), state=state, verifier=verifier
    )


def get_sign_in_workspace_handle(session: Mapping[str, Any], server_id: UUID) -> str | None:
    """Return the handle of the workspace in which this session has started a sign-in at the server; null if it has not."""
    started = session.get(_SESSION_KEY)
    return started.get("workspace") if started and started["server"] == str(server_id) else None


def accept_sign_in(
    actor: "Actor", server_id: UUID, session: MutableMapping[str, Any], query: Mapping[str, str]
) -> ToolServer:
    """Have a worker exchange the code that a browser has brought back. `query`: the query string with which it came.

    Raises `SignInFailed` unless this session has started the sign-in and the authorization server agreed, `NotFound`, `Forbidden`,
    `Unavailable`.
    """
    started = session.pop(_SESSION_KEY, None)
    state = query.get("state", "")
    if (
        not started
        or started["server"] != str(server_id)
        or not secrets.compare_digest(started["state"].encode(), state.encode())
    ):
        raise SignInFailed("expired", "This sign-in was not started here, or another was started after it.")
    if now().timestamp() - started["at"] > SIGN_IN_SECONDS:
        raise SignInFailed("expired", "The sign-in took too long.")
    server = get_server_for(actor, server_id, kind=ServerKind.MCP)
    authorization = ServerAuthorization.objects.filter(server=server).first()
    if authorization is None:
        raise NotFound("The server has changed meanwhile.")
    found = AuthorizationServer.from_json(authorization.authorization_server)
    issuer = query.get("iss")
    if (issuer or found.wants_issuer) and issuer != found.issuer:
        raise SignInFailed("failed", "The answer is from another authorization server.")
    if query.get("error") == "access_denied":
        raise SignInFailed("refused", "The person or the authorization server has refused the sign-in.")
    if not query.get("code") or len(query["code"]) > 4000:
        raise SignInFailed("failed", "The authorization server did not agree.")
    purpose = ServerAuthorization.PURPOSE
    verifier = decrypt_for(started["verifier"], owner=str(server.id), purpose=purpose)
    brought = Secret(json.dumps({"code": query["code"], "verifier": verifier.reveal()}))
    send_task_now(
        SIGN_IN_TASK, [str(server.id), str(actor.id), encrypt_for(brought, owner=str(server.id), purpose=purpose)]
    )
    return server
