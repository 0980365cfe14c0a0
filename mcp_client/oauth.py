"""What a browser needs to sign in to the authorization server of an MCP server (OAuth 2.1 with PKCE), without the SDK."""

import base64
import hashlib
import secrets
from dataclasses import asdict, dataclass
from typing import Any, Self
from uuid import UUID

from yarl import URL

from common.secrets import Secret
from mcp_client.client import check_server_url


@dataclass(frozen=True)
class AuthorizationServer:
    """An authorization server, and what we are called there. It holds no secret.

    `server_url`: the MCP server that named it; its tokens are sent to no other. `resource`: the address for which tokens are
    asked, so that no other server accepts them. `auth_method`: how we prove who we are when we ask for a token. `wants_issuer`:
    its answers name their issuer (RFC 9207).
    """

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    client_id: str
    auth_method: str
    scope: str
    resource: str
    server_url: str
    wants_issuer: bool

    def to_json(self) -> dict[str, Any]:
        """Return the value for a JSON column."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return the server from a value of `to_json`."""
        return cls(**stored)


@dataclass(frozen=True)
class OAuthTokens:
    """Tokens of an authorization server. `lifetime_s`: seconds for which the access token is valid, null if not known."""

    access: Secret
    refresh: Secret
    lifetime_s: int | None


def build_redirect_uri(address: str, server_id: UUID) -> str:
    """Return the address of ours to which a browser comes back. `address`: of this installation.

    Each MCP server has an address of its own. A hostile authorization server therefore cannot have a code of another authorization
    server sent to its own address: the other one does not know that address, and refuses it.
    """
    return f"{address}/api/v1/mcp-servers/{server_id}/sign-in/return"


def build_verifier() -> str:
    """Return a random PKCE verifier."""
    return secrets.token_urlsafe(48)


def build_authorize_url(server: AuthorizationServer, *, redirect_uri: str, state: str, verifier: str) -> str:
    """Return the address to which the browser is sent. Raises `HostRefused`."""
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    query = {
        "response_type": "code",
        "client_id": server.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
        "resource": server.resource,
        **({"scope": server.scope} if server.scope else {}),
    }
    return str(URL(str(check_server_url(server.authorization_endpoint).url)).update_query(query))
