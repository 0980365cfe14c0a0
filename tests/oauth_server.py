"""A scripted authorization server: metadata, dynamic registration, the code and the refresh flow, with PKCE and `resource`."""

import base64
import hashlib
from typing import Any

from aiohttp import web
from yarl import URL

from tests.hostile_web import Site


class OAuthServer:
    """The authorization server, and the metadata of the MCP server at `/mcp`, on one site.

    `metadata` and `resource` are changed by a test. `tokens`: the access tokens that were given, newest last.
    """

    def __init__(self, site: Site) -> None:
        base = site.url("").rstrip("/")
        self.site = site
        self.mcp_url = f"{base}/mcp"
        self.metadata: dict[str, Any] = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "none"],
            "scopes_supported": ["mail", "offline_access"],
        }
        self.resource: dict[str, Any] = {"resource": self.mcp_url, "authorization_servers": [base]}
        self.registered: list[dict[str, Any]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens: list[str] = []
        self.refresh_token = ""
        self.asked_for_tokens: list[dict[str, str]] = []
        self.lifetime = 3600
        site.pages["/.well-known/oauth-protected-resource/mcp"] = lambda request: web.json_response(self.resource)
        site.pages["/.well-known/oauth-authorization-server"] = lambda request: web.json_response(self.metadata)
        site.pages["/register"] = self.register
        site.pages["/token"] = self.give_token

    @property
    def challenge(self) -> str:
        return f'Bearer resource_metadata="{self.site.url("/.well-known/oauth-protected-resource/mcp")}", scope="mail"'

    async def register(self, request: web.Request) -> web.Response:
        self.registered.append(await request.json())
        body = {**self.registered[-1], "client_id": "client-1", "client_secret": "client-secret-1"}
        return web.json_response(body, status=201)

    def approve(self, url: str) -> dict[str, str]:
        """Do what the person does in the browser. Return the query with which the browser comes back."""
        query = dict(URL(url).query)
        code = f"code-{len(self.codes) + 1}"
        self.codes[code] = query
        return {"code": code, "state": query["state"]}

    async def give_token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        self.asked_for_tokens.append(form)
        if form.get("client_secret") != "client-secret-1" or form.get("resource") != self.resource["resource"]:
            return web.json_response({"error": "invalid_client"}, status=401)
        if form["grant_type"] == "refresh_token":
            if not self.refresh_token or form["refresh_token"] != self.refresh_token:
                return web.json_response({"error": "invalid_grant"}, status=400)
        else:
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if not asked or asked["code_challenge"] != challenge or asked["redirect_uri"] != form["redirect_uri"]:
                return web.json_response({"error": "invalid_grant"}, status=400)
        number = len(self.tokens) + 1
        self.tokens.append(f"access-token-{number}")
        self.refresh_token = f"refresh-token-{number}"
        body = {"access_token": self.tokens[-1], "token_type": "bearer", "refresh_token": self.refresh_token}
        return web.json_response({**body, "expires_in": self.lifetime})
