"""Talk to the MCP servers of workspaces. In workers only: the SDK is imported, and credentials are decrypted."""

import asyncio
import importlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import ModuleType
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connections, transaction

from actors.models import Actor
from common.clock import now
from common.egress import HostRefused, close_sessions
from common.secrets import DecryptionFailed, Secret, decrypt_for, encrypt_for
from common.shared_slots import SharedSlots, SharedThreads
from common.tenants import set_current_tenant
from events import audit
from events.rows import AuthScheme, ServerKind
from mcp_client.client import list_server_tools
from mcp_client.oauth import AuthorizationServer, OAuthTokens, build_redirect_uri
from mcp_client.protocol import MCPError, MCPServer
from tools.credentials import build_auth_headers, decrypt_credential
from tools.mcp.listing import store_failure, store_listing
from tools.models import ServerAuthorization, ToolServer

RENEW_BEFORE = timedelta(seconds=60)
"""How long before its end an access token is renewed."""
RENEWAL_WAIT_SECONDS = 30.0
"""How long a call waits for a token that another one renews."""
RENEWAL_POLL_SECONDS = 0.2
LISTINGS_AT_ONCE = 20
RENEWALS_AT_ONCE = 8
"""Listings, and renewals of tokens, that a process makes at the same time."""
_listings = SharedSlots("listings of tools", lambda: LISTINGS_AT_ONCE)
_renewals = SharedThreads(RENEWALS_AT_ONCE, "renewals")
T = TypeVar("T")


@dataclass(frozen=True)
class ServerAccess:
    """What is needed to ask a server, read from its row."""

    server_id: UUID
    workspace_id: UUID
    base_url: str
    auth: str
    headers: Mapping[str, Secret]

    def build_server(self) -> MCPServer:
        """Return the server for the client."""
        return MCPServer(self.base_url, self.headers)


async def refresh_server(server_id: UUID, person_id: UUID | None) -> None:
    """List the tools of a server when it is its turn, and store them or the reason why it failed. Errors are stored, not raised.

    `person_id`: the person for whom this is done.
    """
    row = await run_query(_find_server, server_id)
    if row is None:
        return
    with set_current_tenant(row.workspace_id, person_id):
        async with _listings.reserve():
            # What was changed while it waited counts.
            if row := await run_query(_find_server, server_id):
                await _refresh_server(row)


async def _refresh_server(row: ToolServer) -> None:
    needs_sign_in = False
    try:
        try:
            access = await get_server_access(row)
            listing = await list_server_tools(access.build_server())
        except MCPError as error:
            if row.auth == AuthScheme.OAUTH and error.code in ("unauthorized", "sign_in_needed"):
                await _prepare_sign_in(row, error.challenge)
                needs_sign_in = True
            raise
        await run_query(store_listing, row.pk, row.base_url, listing)
    except MCPError as error:
        await run_query(store_failure, row.pk, row.base_url, error, needs_sign_in)


async def get_server_access(row: ToolServer) -> ServerAccess:
    """Return how to ask a server, with an access token that is still good. Raises `MCPError`."""
    headers: Mapping[str, Secret]
    if row.auth == AuthScheme.OAUTH:
        # Some servers answer a header without a token with 400, not with 401 and the address of their authorization server.
        token = await _get_access_token(row)
        headers = {"Authorization": Secret(f"Bearer {token.reveal()}")} if token else {}
    else:
        try:
            plain = build_auth_headers(row, decrypt_credential(row))
        except DecryptionFailed as error:
            raise MCPError("unauthorized", "The credential of the server cannot be read.") from error
        headers = {name: Secret(value) for name, value in plain.items()}
    return ServerAccess(row.pk, row.workspace_id, row.base_url, row.auth, headers)


async def finish_sign_in(server_id: UUID, person_id: UUID, encrypted_code: str) -> None:
    """Exchange the code that a browser has brought back for tokens, and list the tools of the server.

    `encrypted_code`: the code and the PKCE verifier as JSON, encrypted for the server.
    """
    row = await run_query(_find_server, server_id)
    if row is None:
        return
    with set_current_tenant(row.workspace_id, person_id):
        async with _listings.reserve():
            is_signed_in = await _exchange_code(row, person_id, encrypted_code)
    if is_signed_in:
        await refresh_server(server_id, person_id)


async def _exchange_code(row: ToolServer, person_id: UUID, encrypted_code: str) -> bool:
    """Exchange the code for tokens and store them, or the reason why it failed. Return whether it succeeded."""
    server_id = row.pk
    authorization = await run_query(_find_authorization, server_id)
    if authorization is None:
        return False
    decrypted = decrypt_for(encrypted_code, owner=str(server_id), purpose=ServerAuthorization.PURPOSE)
    brought = json.loads(decrypted.reveal())
    try:
        tokens = await (await _import_authorization()).exchange_code(
            AuthorizationServer.from_json(authorization.authorization_server),
            _decrypt_secrets(authorization)["client_secret"],
            code=Secret(brought["code"]),
            verifier=Secret(brought["verifier"]),
            redirect_uri=build_redirect_uri(settings.WEB_APP_URL, server_id),
        )
    except MCPError as error:
        await run_query(store_failure, server_id, row.base_url, error, True)
        return False
    await run_query(_store_tokens, authorization.pk, tokens, person_id)
    return True


async def run_query(work: Callable[..., T], *arguments: Any) -> T:
    """Run a function that uses the database in a thread, with a connection of its own."""
    return await asyncio.to_thread(_run_and_disconnect, work, *arguments)


def _run_and_disconnect(work: Callable[..., T], *arguments: Any) -> T:
    try:
        return work(*arguments)
    finally:
        connections.close_all()


def _find_server(server_id: UUID) -> ToolServer | None:
    return ToolServer.objects.filter(pk=server_id, kind=ServerKind.MCP).first()


def _find_authorization(server_id: UUID) -> ServerAuthorization | None:
    return ServerAuthorization.objects.filter(server_id=server_id).first()


async def _prepare_sign_in(row: ToolServer, challenge: str) -> None:
    """Find the authorization server and register there, unless we have done so. Raises `MCPError`."""
    known = await run_query(_find_authorization, row.pk)
    if known and known.authorization_server["server_url"] == row.base_url:
        return
    try:
        found, client_secret = await (await _import_authorization()).find_authorization_server(
            row.base_url, challenge=challenge, redirect_uri=build_redirect_uri(settings.WEB_APP_URL, row.pk)
        )
    except HostRefused as error:
        raise MCPError("host_refused", error.message) from error
    encrypted = _encrypt_secrets(row.pk, {"client_secret": client_secret})
    values = {"authorization_server": found.to_json(), "encrypted_secrets": encrypted, "expires_at": None}
    await run_query(lambda: ServerAuthorization.objects.update_or_create(server_id=row.pk, defaults=values))


async def _get_access_token(row: ToolServer) -> Secret:
    """Return an access token of the server, a new one if the old one ends soon. Raises `MCPError`."""
    waits_until = time.monotonic() + RENEWAL_WAIT_SECONDS
    while True:
        authorization = await run_query(_find_authorization, row.pk)
        if authorization is None or authorization.authorization_server["server_url"] != row.base_url:
            # Without a token the server answers with the address of its authorization server.
            return Secret("")
        stored = _decrypt_secrets(authorization)
        if not _ends_soon(authorization.expires_at):
            return stored.get("access", Secret(""))
        module = await _import_authorization()
        # Its thread waits for the authorization server, so it is none of those that all tenants use for queries.
        renewed = await _renewals.run(partial(_run_and_disconnect, _renew_token, authorization.pk, module))
        if renewed is not None:
            return renewed
        if time.monotonic() > waits_until:
            raise MCPError("failed", "The authorization server takes too long to renew the sign-in.", is_final=False)
        await asyncio.sleep(RENEWAL_POLL_SECONDS)


def _renew_token(authorization_id: UUID, module: ModuleType) -> Secret | None:
    """Renew the token under a lock on its row: a refresh token can be used only once. Raises `MCPError`.

    Return null if the row is locked or gone. The caller then waits without a thread or a connection, so that a slow authorization
    server holds one of each and not one for each call.
    """
    with transaction.atomic():
        row = ServerAuthorization.objects.select_for_update(skip_locked=True).filter(pk=authorization_id).first()
        if row is None:
            return None
        stored = _decrypt_secrets(row)
        if not _ends_soon(row.expires_at):  # another call has renewed it since
            return stored["access"]
        if not stored.get("refresh"):
            raise MCPError("unauthorized", "The sign-in at the server has ended. An editor must sign in again.")
        server = AuthorizationServer.from_json(row.authorization_server)
        tokens = asyncio.run(_request_new_tokens(module, server, stored))
        _write_tokens(row, stored, tokens)
        return tokens.access


async def _request_new_tokens(
    module: ModuleType, server: AuthorizationServer, stored: Mapping[str, Secret]
) -> OAuthTokens:
    """Ask the authorization server for new tokens. Runs in a loop of its own, whose sessions are closed at its end."""
    try:
        tokens: OAuthTokens = await module.refresh_tokens(server, stored["client_secret"], refresh=stored["refresh"])
        return tokens
    finally:
        await close_sessions()


def _store_tokens(authorization_id: UUID, tokens: OAuthTokens, person_id: UUID) -> None:
    with transaction.atomic():
        rows = ServerAuthorization.objects.select_for_update(of=("self",), no_key=True).select_related("server")
        row = rows.get(pk=authorization_id)
        row.signed_in_by_id = person_id
        _write_tokens(row, _decrypt_secrets(row), tokens)
        person = Actor.objects.get(pk=person_id)
        audit.record(person, "tool_server.signed_in", workspace_id=row.server.workspace_id, object_id=row.server_id)


def _write_tokens(row: ServerAuthorization, stored: Mapping[str, Secret], tokens: OAuthTokens) -> None:
    row.encrypted_secrets = _encrypt_secrets(
        row.server_id, {**stored, "access": tokens.access, "refresh": tokens.refresh}
    )
    row.expires_at = None if tokens.lifetime_s is None else now() + timedelta(seconds=tokens.lifetime_s)
    row.save(update_fields=["encrypted_secrets", "expires_at", "signed_in_by"])


def _ends_soon(expires_at: datetime | None) -> bool:
    return expires_at is not None and expires_at - RENEW_BEFORE < now()


def _encrypt_secrets(server_id: UUID, values: Mapping[str, Secret]) -> str:
    text = json.dumps({name: value.reveal() for name, value in values.items()})
    return encrypt_for(Secret(text), owner=str(server_id), purpose=ServerAuthorization.PURPOSE)


def _decrypt_secrets(row: ServerAuthorization) -> dict[str, Secret]:
    """Return our secret and the tokens. Raises `MCPError`."""
    try:
        text = decrypt_for(row.encrypted_secrets, owner=str(row.server_id), purpose=ServerAuthorization.PURPOSE)
    except DecryptionFailed as error:
        raise MCPError(
            "unauthorized", "The sign-in at the server cannot be read. An editor must sign in again."
        ) from error
    return {name: Secret(value) for name, value in json.loads(text.reveal()).items()}


async def _import_authorization() -> ModuleType:
    return await asyncio.to_thread(importlib.import_module, "mcp_client.authorization")
