"""`.venv/bin/python -m tests.servers .venv/bin/python -m bench.row_security`: what row-level security would cost (ADR 0026).

On the tables of a new installation, filled with messages of many workspaces: the time of queries as the owner of the tables, to
whom no policy applies, and as a role with policies.
"""

import os
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.conninfo import make_conninfo

WORKSPACES, CHATS, MESSAGES = 40, 10, 500
ROUNDS = 500
SETTING = "nullif(current_setting('atelier.workspace', true), '')::uuid"

FILL = f"""
SET session_replication_role = replica;
INSERT INTO chats_chat (id, version, title, created_at, workspace_id, is_between_agents, pin_count)
    SELECT md5('c' || w || '-' || c)::uuid, {MESSAGES}, 'Chat ' || c, now(), md5('w' || w)::uuid, false, 0
    FROM generate_series(1, {WORKSPACES}) w, generate_series(1, {CHATS}) c;
INSERT INTO chats_message (id, version, seq, type, payload, created_at, author_id, chat_id)
    SELECT gen_random_uuid(), n, n, 'TEXT_MESSAGE',
        jsonb_build_object('text', CASE WHEN n % 50 = 0 THEN 'lighthouse ' ELSE 'harbour ' END || n || repeat(' word', 20)),
        now() - n * interval '1 minute', md5('author')::uuid, chats_chat.id
    FROM chats_chat, generate_series(1, {MESSAGES}) n;
SET session_replication_role = origin;
ANALYZE chats_chat, chats_message;
"""
ROLE = """
CREATE ROLE tenant LOGIN PASSWORD 'tenant';
GRANT SELECT ON chats_chat, chats_message TO tenant;
"""
# The column that a policy without a subquery needs: a message has only its chat.
COLUMN = """
ALTER TABLE chats_message ADD COLUMN workspace_id uuid;
UPDATE chats_message SET workspace_id = chats_chat.workspace_id FROM chats_chat WHERE chats_chat.id = chat_id;
VACUUM (FULL, ANALYZE) chats_message;
"""
POLICIES = {
    "policy by the chat": f"chat_id IN (SELECT id FROM chats_chat WHERE workspace_id = {SETTING})",
    "policy by a column": f"workspace_id = {SETTING}",
}
QUERIES = {
    "newest page of a chat": "SELECT id, payload FROM chats_message WHERE chat_id = %(chat)s ORDER BY seq DESC LIMIT 50",
    "one message": "SELECT id, payload FROM chats_message WHERE id = %(message)s AND chat_id = %(chat)s",
    "new messages, counted": (
        "SELECT count(*) FROM (SELECT FROM chats_message WHERE chat_id = %(chat)s AND seq > %(seq)s LIMIT 100) new"
    ),
    "search in a workspace": (
        "SELECT id FROM chats_message WHERE words @@ 'lighthouse'::tsquery AND chat_id = ANY(%(chats)s)"
        " ORDER BY created_at DESC LIMIT 20"
    ),
    "chats of a workspace": "SELECT id, title FROM chats_chat WHERE workspace_id = %(workspace)s",
}


@contextmanager
def connect(role: str) -> Iterator[Connection[Any]]:
    """Connect as the owner or as `tenant`. Statements are prepared after five times, as in the settings."""
    url = os.environ["DATABASE_URL"]
    url = make_conninfo(url, user="tenant", password="tenant") if role == "tenant" else url
    with psycopg.connect(url, autocommit=True, prepare_threshold=5) as connection:
        yield connection


def measure(connection: Connection[Any], query: str, values: dict[str, Any], *, with_setting: bool) -> float:
    """Return the median time of a query in milliseconds, with its transaction and setting if it needs them."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        if with_setting:
            with connection.transaction():
                connection.execute("SELECT set_config('atelier.workspace', %s, true)", [str(values["workspace"])])
                connection.execute(query, values).fetchall()
        else:
            connection.execute(query, values).fetchall()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def main() -> None:
    """Fill the tables, and print the times of each query in each way, and what a forgotten condition would return."""
    found: dict[str, dict[str, float]] = {name: {} for name in [*QUERIES, "nothing (SELECT 1)"]}

    def measure_all(way: str, role: str, *, in_session: bool = False) -> None:
        with connect(role) as connection:
            if in_session:
                connection.execute("SELECT set_config('atelier.workspace', %s, false)", [str(values["workspace"])])
            for name, query in [*QUERIES.items(), ("nothing (SELECT 1)", "SELECT 1")]:
                with_setting = role == "tenant" and not in_session
                found[name][way] = measure(connection, query, values, with_setting=with_setting)

    with connect("owner") as owner:
        owner.execute(FILL)
        owner.execute(ROLE)
        workspace, chat = owner.execute("SELECT workspace_id, id FROM chats_chat LIMIT 1").fetchone() or (None, None)
        chats = [id for (id,) in owner.execute("SELECT id FROM chats_chat WHERE workspace_id = %s", [workspace])]
        [message] = owner.execute("SELECT id FROM chats_message WHERE chat_id = %s LIMIT 1", [chat]).fetchone() or [
            None
        ]
        values = {
            "workspace": workspace,
            "chat": chat,
            "chats": chats,
            "message": message,
            "seq": MESSAGES - 30,
        }
        search = QUERIES["search in a workspace"]
        measure_all("owner", "owner")
        owner.execute(
            "ALTER TABLE chats_chat ENABLE ROW LEVEL SECURITY; ALTER TABLE chats_message ENABLE ROW LEVEL SECURITY"
        )
        owner.execute(f"CREATE POLICY tenant ON chats_chat USING (workspace_id = {SETTING})")
        for way, condition in POLICIES.items():
            if "column" in way:
                for statement in COLUMN.strip().split(";\n"):
                    owner.execute(statement)
            owner.execute(
                f"DROP POLICY IF EXISTS tenant ON chats_message; CREATE POLICY tenant ON chats_message USING ({condition})"
            )
            measure_all(way, "tenant")
            measure_all(f"{way}, setting of the session", "tenant", in_session=True)
            with connect("tenant") as connection:
                connection.execute("SELECT set_config('atelier.workspace', %s, false)", [str(workspace)])
                plan = str(connection.execute(f"EXPLAIN {search}", values).fetchall())
                print(f"{way}: the search uses its index: {'messages_by_words' in plan}")
                [seen] = connection.execute("SELECT count(*) FROM chats_message").fetchone() or [0]
                print(f"    without a condition: {seen} of {WORKSPACES * CHATS * MESSAGES} messages")
        with connect("tenant") as connection:
            [seen] = connection.execute("SELECT count(*) FROM chats_message").fetchone() or [0]
            print(f"without the setting: {seen} messages")
    print("| ms, median | " + " | ".join(found["one message"]) + " |")
    for name, times in found.items():
        print(f"| {name} | " + " | ".join(f"{ms:.2f}" for ms in times.values()) + " |")


if __name__ == "__main__":
    main()
