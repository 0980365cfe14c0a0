"""Find the authorization server of an MCP server, register there, and get tokens. In workers only: it imports the SDK.

A hostile server can name any address. Therefore every request is sent by `MCPTransport`, which checks the address (SEC12), and no
redirect is followed.
"""

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import quote, urlsplit

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    issuers_match,
)
from mcp.shared.auth import OAuthClientMetadata, OAuthMetadata, OAuthToken, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, ValidationError

from common.egress import HostRefused
from common.secrets import Secret
from mcp_client.client import check_server_url
from mcp_client.oauth import AuthorizationServer, OAuthTokens
from mcp_client.protocol import MCPError
from mcp_client.transport import MCPTransport

SECONDS = 20.0
"""Seconds for all requests of one function."""


async def find_authorization_server(
    server_url: str, *, challenge: str, redirect_uri: str
) -> tuple[AuthorizationServer, Secret]:
    """Return the authorization server of an MCP server, where we are now registered, and our secret there (or an empty one).

    `challenge`: the `WWW-Authenticate` header of the server. Raises `MCPError`.
    """
    # The functions of the SDK read the header from a response.
    refusal = httpx2.Response(401, headers={"WWW-Authenticate": challenge} if challenge else {})
    async with _open_http() as http:
        resource = await _find_resource(http, extract_resource_metadata_from_www_auth(refusal), server_url)
        metadata = await _find_metadata(http, resource, server_url)
        check_server_url(str(metadata.authorization_endpoint))  # the browser goes there without our checks
        scope = get_client_metadata_scopes(extract_scope_from_www_auth(refusal), resource, metadata, ["refresh_token"])
        registration = OAuthClientMetadata(
            client_name="Atelier",
            redirect_uris=[AnyUrl(redirect_uri)],
            application_type="web",
            scope=scope,
            token_endpoint_auth_method=_choose_auth_method(metadata),
        )
        base = f"{urlsplit(server_url).scheme}://{urlsplit(server_url).netloc}"
        registered = await handle_registration_response(
            await http.send(create_client_registration_request(metadata, registration, base))
        )
    method = registered.token_endpoint_auth_method or ("client_secret_basic" if registered.client_secret else "none")
    if method not in ("none", "client_secret_basic", "client_secret_post"):
        raise MCPError("unauthorized", "The authorization server wants a way to sign in that is not supported.")
    found = AuthorizationServer(
        issuer=str(metadata.issuer),
        authorization_endpoint=str(metadata.authorization_endpoint),
        token_endpoint=str(metadata.token_endpoint),
        client_id=registered.client_id,
        auth_method=method,
        scope=scope or "",
        resource=str(resource.resource) if resource else resource_url_from_server_url(server_url),
        server_url=server_url,
        wants_issuer=metadata.authorization_response_iss_parameter_supported is True,
    )
    return found, Secret(registered.client_secret or "")


async def exchange_code(
    server: AuthorizationServer, client_secret: Secret, *, code: Secret, verifier: Secret, redirect_uri: str
) -> OAuthTokens:
    """Return the tokens for the code that a browser has brought back. Raises `MCPError`."""
    form = {
        "grant_type": "authorization_code",
        "code": code.reveal(),
        "redirect_uri": redirect_uri,
        "code_verifier": verifier.reveal(),
    }
    return await _request_tokens(server, client_secret, form)


async def refresh_tokens(server: AuthorizationServer, client_secret: Secret, *, refresh: Secret) -> OAuthTokens:
    """Return new tokens. The old refresh token is kept if there is no new one. Raises `MCPError`."""
    tokens = await _request_tokens(
        server, client_secret, {"grant_type": "refresh_token", "refresh_token": refresh.reveal()}
    )
    return OAuthTokens(tokens.access, tokens.refresh or refresh, tokens.lifetime_s)


async def _request_tokens(server: AuthorizationServer, client_secret: Secret, form: Mapping[str, str]) -> OAuthTokens:
    data = {**form, "client_id": server.client_id, "resource": server.resource}
    headers = {"Accept": "application/json"}
    if client_secret and server.auth_method == "client_secret_basic":
        pair = f"{quote(server.client_id, safe='')}:{quote(client_secret.reveal(), safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    elif client_secret and server.auth_method == "client_secret_post":
        data["client_secret"] = client_secret.reveal()
    async with _open_http() as http:
        response = await http.post(server.token_endpoint, data=data, headers=headers)
    if response.status_code not in (200, 201):
        text = f"The authorization server gave no token (HTTP {response.status_code})."
        raise MCPError("unauthorized", text, is_final=response.status_code < 500)
    try:
        token = OAuthToken.model_validate_json(response.content)
    except ValidationError as error:
        raise MCPError("unauthorized", "The authorization server's token cannot be read.") from error
    return OAuthTokens(Secret(token.access_token), Secret(token.refresh_token or ""), token.expires_in)


async def _find_resource(
    http: httpx2.AsyncClient, metadata_url: str | None, server_url: str
) -> ProtectedResourceMetadata | None:
    """Return the server's metadata about its authorization (RFC 9728), null if it has none. Raises `MCPError`.

    `metadata_url`: the address that the header of the server's refusal names; null: only the well-known addresses are tried.
    """
    for url in build_protected_resource_metadata_discovery_urls(metadata_url, server_url):
        found = await handle_protected_resource_response(await http.send(create_oauth_metadata_request(url)))
        if found is None:
            continue
        if not check_resource_allowed(resource_url_from_server_url(server_url), str(found.resource)):
            raise MCPError("unauthorized", "The server asks for tokens of another server, which is refused.")
        return found
    return None


async def _find_metadata(
    http: httpx2.AsyncClient, resource: ProtectedResourceMetadata | None, server_url: str
) -> OAuthMetadata:
    """Return the metadata of the authorization server (RFC 8414), from the first well-known address that returns metadata.

    Without `resource`, the issuer must be the origin of the MCP server. Raises `MCPError`.
    """
    issuer = str(resource.authorization_servers[0]) if resource else None
    for url in build_oauth_authorization_server_metadata_discovery_urls(issuer, server_url):
        may_try_next, metadata = await handle_auth_metadata_response(
            await http.send(create_oauth_metadata_request(url))
        )
        if metadata is not None:
            expected = issuer or f"{urlsplit(server_url).scheme}://{urlsplit(server_url).netloc}"
            if not issuers_match(str(metadata.issuer), expected):
                raise MCPError("unauthorized", "The authorization server calls itself by another name.")
            if "S256" not in (metadata.code_challenge_methods_supported or ()):
                raise MCPError("unauthorized", "The authorization server does not support PKCE.")
            return metadata
        if not may_try_next:
            break
    raise MCPError("unauthorized", "No authorization server of this server could be found.")


def _choose_auth_method(metadata: OAuthMetadata) -> str:
    """Return how we sign in at the token endpoint. A server that says nothing of it takes Basic (RFC 8414)."""
    offered = metadata.token_endpoint_auth_methods_supported or ["client_secret_basic"]
    return next((one for one in ("client_secret_basic", "client_secret_post") if one in offered), "none")


@asynccontextmanager
async def _open_http() -> AsyncIterator[httpx2.AsyncClient]:
    """Yield a client that asks only addresses that `check_server_url` allows. Its errors become `MCPError`."""
    transport = MCPTransport(None, seconds=SECONDS)
    try:
        # The transport has the timeout.
        async with httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as http:
            yield http
    except HostRefused as error:
        raise MCPError("host_refused", error.message) from error
    except OAuthRegistrationError as error:
        text = f"The authorization server did not register us (HTTP {transport.status})."
        raise MCPError("unauthorized", text) from error
    except (OAuthFlowError, httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise transport.failure or MCPError(
            "unreadable", f"The authorization server's answer cannot be read ({type(error).__name__})."
        ) from error
