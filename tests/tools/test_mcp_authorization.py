"""OAuth with the authorization server that an MCP server names."""

import pytest
from aiohttp import web

from common.egress import close_sessions
from common.secrets import Secret
from mcp_client.authorization import exchange_code, find_authorization_server, refresh_tokens
from mcp_client.oauth import AuthorizationServer, build_authorize_url, build_verifier
from mcp_client.protocol import MCPError
from tests.hostile_web import ConnectionRecorder
from tests.oauth_server import OAuthServer

BACK = "https://atelier.example/api/mcp/callback"


@pytest.fixture
def oauth(site):
    return OAuthServer(site)


async def find(oauth):
    return await find_authorization_server(oauth.mcp_url, challenge=oauth.challenge, redirect_uri=BACK)


async def test_the_way_from_a_refusal_to_tokens_and_to_new_ones(oauth):
    server, secret = await find(oauth)
    assert oauth.registered[0]["redirect_uris"] == [BACK]
    assert (server.client_id, server.scope, server.resource) == ("client-1", "mail offline_access", oauth.mcp_url)
    assert AuthorizationServer.from_json(server.to_json()) == server
    assert "client-secret-1" not in str(server.to_json())
    verifier = build_verifier()
    back = oauth.approve(build_authorize_url(server, redirect_uri=BACK, state="s", verifier=verifier))
    assert back["state"] == "s"
    tokens = await exchange_code(
        server, secret, code=Secret(back["code"]), verifier=Secret(verifier), redirect_uri=BACK
    )
    assert (tokens.access.reveal(), tokens.lifetime_s) == ("access-token-1", 3600)
    newer = await refresh_tokens(server, secret, refresh=tokens.refresh)
    assert (newer.access.reveal(), newer.refresh.reveal()) == ("access-token-2", "refresh-token-2")
    with pytest.raises(MCPError):
        await refresh_tokens(server, secret, refresh=tokens.refresh)


async def test_a_code_counts_only_with_the_verifier_of_its_browser(oauth):
    server, secret = await find(oauth)
    url = build_authorize_url(server, redirect_uri=BACK, state="s", verifier=build_verifier())
    code = Secret(oauth.approve(url)["code"])
    with pytest.raises(MCPError) as error:
        await exchange_code(server, secret, code=code, verifier=Secret(build_verifier()), redirect_uri=BACK)
    assert (error.value.code, oauth.tokens) == ("unauthorized", [])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"issuer": "https://other.example"}, "another name"),
        ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
        ({"code_challenge_methods_supported": None}, "PKCE"),
        ({"authorization_endpoint": "http://10.0.0.1/authorize"}, None),
        ({"authorization_endpoint": "http://public.example/authorize"}, "https"),
        ({"registration_endpoint": "https://localhost/register"}, None),
        ({"registration_endpoint": "http://10.0.0.1/register"}, None),
        ({"token_endpoint": 7}, None),
    ],
)
async def test_SEC12_an_authorization_server_that_breaks_a_rule_is_refused(oauth, changes, reason):
    oauth.metadata |= changes
    with pytest.raises(MCPError, match=reason):
        await find(oauth)


async def test_SEC12_no_address_that_a_server_names_leads_inside(oauth, site, monkeypatch):
    """The metadata of the resource, that of the authorization server, and the token endpoint."""
    recorder = ConnectionRecorder(monkeypatch)
    recorder.allowed.add(site.port)
    server, secret = await find(oauth)
    inside = "https://169.254.169.254/latest"
    with pytest.raises(MCPError) as error:
        await find_authorization_server(
            oauth.mcp_url, challenge=f'Bearer resource_metadata="{inside}"', redirect_uri=BACK
        )
    assert error.value.code == "host_refused"
    oauth.resource["authorization_servers"] = [inside]
    with pytest.raises(MCPError) as error:
        await find(oauth)
    assert error.value.code == "host_refused"
    moved = AuthorizationServer.from_json(server.to_json() | {"token_endpoint": inside})
    with pytest.raises(MCPError) as error:
        await refresh_tokens(moved, secret, refresh=Secret("refresh-token"))
    assert error.value.code == "host_refused"
    assert recorder.seen == []


async def test_SEC13_a_redirect_of_an_authorization_server_is_not_followed(oauth, site):
    site.set_page("/inside", "{}")
    site.set_redirect("/.well-known/oauth-authorization-server", site.url("/inside"))
    with pytest.raises(MCPError):
        await find(oauth)
    assert "/inside" not in {request.path for request in site.asked}


async def test_tokens_are_asked_for_this_server_only(oauth):
    """Else a hostile server gets tokens that another server accepts."""
    oauth.resource["resource"] = "https://bank.example/mcp"
    with pytest.raises(MCPError, match="another server"):
        await find(oauth)
    assert oauth.registered == []


@pytest.mark.parametrize("body", ["", "{}", "[" * 100_000, '{"access_token": 7}'])
async def test_a_token_that_cannot_be_read_is_an_error(oauth, site, body):
    server, secret = await find(oauth)
    site.pages["/token"] = lambda request: web.Response(text=body, content_type="application/json")
    with pytest.raises(MCPError):
        await refresh_tokens(server, secret, refresh=Secret("refresh-token"))
    await close_sessions()
