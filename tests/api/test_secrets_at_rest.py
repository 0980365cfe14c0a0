"""SEC17: no secret is stored in plain text: not in the database, not in Redis, not in the log."""

import logging
import re
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
from tests.people import make_team

CANARY = "sk-CANARY-0123456789abcdef"

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
    return "\n".join(rows)


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
    token = alice.ok("POST", "me/tokens", {"name": "Mine", "password": PASSWORD})["text"]
    Api().client.post("/_allauth/app/v1/auth/password/request", {"email": "bob@example.org"}, "application/json")
    alice.ok("POST", "me/email", {"email": "alice@example.net", "password": PASSWORD})
    tasks.send_email_change(str(EmailChange.objects.get().pk), WEB_APP_URL, "en")
    [email_key] = re.findall(r"/confirm-email/(\S+)", str(mail.outbox[-1].body))
    link = alice.ok("POST", f"chats/{team.chat.id}/links", {"role": "editor"})["url"].rsplit("/", 1)[1]
    reset_key = key_of(link_of(team.bob))
    Api(alice.token).ok("GET", "me")
    stores = {"database": dump_database(), "redis": dump_redis(settings.REDIS_URL), "log": caplog.text}
    assert "alice@example.org" in stores["database"]
    assert "send_reset_link" in stores["redis"]
    secrets = {
        "model key": CANARY,
        "API token": token,
        "key of the mail": email_key,
        "invite link": link,
        "reset link": reset_key,
        "password": PASSWORD,
    }
    found = [(name, store) for name, secret in secrets.items() for store, text in stores.items() if secret in text]
    assert found == []
