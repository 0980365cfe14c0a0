"""SEC17: no secret is stored in plain text: not in the database, not in Redis, not in the log."""

import html
import logging
import re
import zlib
from base64 import urlsafe_b64encode
from typing import Any

import pytest
import redis
from django.core import mail
from django.db import connection

from actors import tasks
from actors.models import EmailChange
from tests.actors.test_passwords import WEB_APP_URL, key_of, link_of, queue  # noqa: F401
from tests.api.client import Api, sign_in
from tests.factories.actors import PASSWORD
from tests.factories.agents import add_tool_use
from tests.people import make_team
from tests.runs.fixtures import _scripted_model, engine, environment, model
from tests.tools.test_workspace_tools import booking
from usage.models import LLMCall

__all__ = ["_scripted_model", "booking", "engine", "environment", "model"]

CANARY = "sk-CANARY-0123456789abcdef"
TOOL_KEY = "plain<key>&'of'-the-tool"

pytestmark = pytest.mark.django_db(transaction=True)


def dump_database() -> str:
    """Return every row of every table as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        rows = []
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {table} t")
            rows += [row for (row,) in cursor.fetchall()]
    # Requests to models are compressed.
    requests = [call.request for call in LLMCall.objects.only("request") if call.request]
    return "\n".join([*rows, *(zlib.decompress(request).decode() for request in requests)])


def dump_redis(url: str) -> str:
    """Return every key and value of the Redis database as text."""
    client: Any = redis.Redis.from_url(url)
    reads = {
        b"string": client.get,
        b"list": lambda key: client.lrange(key, 0, -1),
        b"hash": client.hgetall,
        b"set": client.smembers,
        b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
    }
    return repr([(key, reads[client.type(key)](key)) for key in client.keys() if client.type(key) in reads])


def find_plain_secrets(redis_url: str, log: str, secrets: dict[str, str]) -> list[tuple[str, str]]:
    """Return where secrets are in plain text: in the database, in Redis or in the log. A binary column is in hex."""
    stores = {"database": dump_database(), "redis": dump_redis(redis_url), "log": log}
    return [
        (name, store)
        for name, secret in secrets.items()
        for store, text in stores.items()
        if secret in text or secret.encode().hex() in text
    ]


def test_SEC17_no_plain_secret_is_in_the_database_in_redis_or_in_the_log(settings, queue, caplog):  # noqa: F811
    caplog.set_level(logging.DEBUG)
    team = make_team()
    alice = sign_in("alice@example.org", PASSWORD)
    alice.ok(
        "PUT",
        f"workspaces/{team.workspace.id}/model",
        {"provider": "openai", "default_model": "gpt", "revision": 0, "key": CANARY},
    )
    alice(
        "POST",
        f"workspaces/{team.workspace.id}/model/test",
        {"provider": "openai", "default_model": "gpt", "revision": 1, "key": CANARY},
    )
    token = alice.ok("POST", "me/tokens", {"name": "Mine", "password": PASSWORD})["secret"]
    Api().client.post("/_allauth/app/v1/auth/password/request", {"email": "bob@example.org"}, "application/json")
    alice.ok("POST", "me/email", {"email": "alice@example.net", "password": PASSWORD})
    tasks.send_email_change(str(EmailChange.objects.get().pk), WEB_APP_URL, "en")
    [email_key] = re.findall(r"/confirm-email/(\S+)", str(mail.outbox[-1].body))
    link = alice.ok("POST", f"chats/{team.chat.id}/links", {"role": "editor"})["url"].rsplit("/", 1)[1]
    reset_key = key_of(link_of(team.bob))
    Api(alice.token).ok("GET", "me")
    secrets = {
        "model key": CANARY,
        "API token": token,
        "key of the mail": email_key,
        "invite link": link,
        "reset link": reset_key,
        "password": PASSWORD,
    }
    assert find_plain_secrets(settings.REDIS_URL, caplog.text, secrets) == []
    known = {"email": "alice@example.org", "task": "send_reset_link"}
    assert find_plain_secrets(settings.REDIS_URL, "", known) == [("email", "database"), ("task", "redis")]


@pytest.mark.usefixtures("engine")
def test_SEC17_no_secret_of_models_tools_and_programs_is_in_the_database_in_redis_or_in_the_log(
    environment, booking, settings, caplog
):
    """A run, whose tool repeats its credential in several spellings: the next request has what the tool answered."""
    caplog.set_level(logging.DEBUG)
    booking.document = "\n".join(
        [TOOL_KEY, html.escape(TOOL_KEY), TOOL_KEY.encode().hex(), urlsafe_b64encode(TOOL_KEY.encode()).decode()]
    ).encode()
    team, alice = environment.team, Api()
    alice.client.force_login(team.alice)
    workspace, agent = f"workspaces/{team.workspace.id}", f"agents/{team.robin.id}"
    model = {"provider": "openai_compatible", "api_base": environment.model.api_base, "default_model": "m"}
    alice.ok("PUT", f"{workspace}/model", model | {"revision": 1, "key": "plainkey-of-the-workspace"})
    alice.ok("PUT", "me/llm-profile", model | {"revision": 0, "key": "plainkey-of-the-person"})
    alice.ok("PUT", f"{workspace}/embedding-model", model | {"revision": 0, "key": "plainkey-of-embeddings"})
    sign_in = {"auth": "header", "auth_name": "X-Key", "credential": TOOL_KEY}
    body = {"kind": "http", "name": "Booking", "base_url": booking.url, **sign_in}
    server = alice.ok("POST", f"{workspace}/http-servers", body)
    form = {"description": "Find fares.", "method": "GET", "path": "/openapi.json"}
    alice.ok("POST", f"tool-servers/{server['id']}/tools", {"name": "find_fares", "form": form})
    token = alice.ok("POST", f"{agent}/tokens", {"name": "Bot"})["secret"]
    webhook = alice.ok("POST", f"{agent}/webhooks", {"url": "https://bot.example.com/wake"})["secret"]

    add_tool_use(team.robin.current_spec, "find_fares")
    environment.model.script(text="done")
    environment.model.script(calls=[{"name": "find_fares", "arguments": "{}"}], times=1)
    environment.post("go")
    [run] = environment.wait_until_idle()
    assert (run.state, LLMCall.objects.exclude(request=None).count()) == ("completed", 2)
    [result] = environment.log("TOOL_RESPONSE")
    assert result.payload["text"].count("***") == 4
    keys = {request.headers["Authorization"] for request in environment.model.requests}
    assert keys <= {"Bearer plainkey-of-the-workspace", "Bearer plainkey-of-the-person"}

    secrets = {
        "key of the workspace": "plainkey-of-the-workspace",
        "key of the person": "plainkey-of-the-person",
        "key for embeddings": "plainkey-of-embeddings",
        "credential": TOOL_KEY,
        "credential in HTML": html.escape(TOOL_KEY),
        "token of the agent": token,
        "secret of the webhook": webhook.removeprefix("whsec_"),
    }
    assert find_plain_secrets(settings.REDIS_URL, caplog.text, secrets) == []
    assert find_plain_secrets(settings.REDIS_URL, "", {"request": '"go"'}) == [("request", "database")]
