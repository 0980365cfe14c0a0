"""Invariants of the database, checked by SQL after every scenario of `make chaos`."""

from django.db import connection

# Each query finds rows that violate an invariant. They apply after the end of a scenario.
INVARIANTS = {
    "a running run has a lease that is extended": """
        SELECT id FROM runs_run WHERE state = 'running' AND lease_until < now() - interval '30 seconds'""",
    "an ended run has no lease and an end time": """
        SELECT id FROM runs_run WHERE state IN ('completed', 'failed', 'stopped')
        AND (lease_owner <> '' OR lease_until IS NOT NULL OR ended_at IS NULL)""",
    "a concurrency key has at most one running run": """
        SELECT concurrency_key FROM runs_run WHERE state IN ('running', 'waiting_child')
        GROUP BY concurrency_key HAVING count(*) > 1""",
    "a run has no more crashes than attempts": """
        SELECT id FROM runs_run WHERE crashes > attempt""",
    "a message has a unique number, which is not above the chat's version": """
        SELECT chat_id FROM chats_message GROUP BY chat_id, seq HAVING count(*) > 1
        UNION ALL SELECT chat.id FROM chats_chat AS chat JOIN chats_message AS message ON message.chat_id = chat.id
        WHERE greatest(message.seq, message.version) > chat.version""",
    "no row of a chat has a version above the chat's": """
        SELECT run.id FROM runs_run AS run JOIN chats_chat AS chat ON chat.id = run.chat_id WHERE run.version > chat.version
        UNION ALL SELECT participant.id FROM chats_chatactor AS participant JOIN chats_chat AS chat ON chat.id = participant.chat_id
        WHERE participant.version > chat.version""",
    "the number of pinned messages of a chat is that of its rows": """
        SELECT chat.id FROM chats_chat AS chat
        LEFT JOIN chats_message AS message ON message.chat_id = chat.id AND message.pinned_at IS NOT NULL
        GROUP BY chat.id HAVING chat.pin_count <> count(message.id)""",
    "a message belongs to one step": """
        SELECT run_id FROM runs_step WHERE kind = 'llm' AND result ->> 'message_id' IS NOT NULL
        GROUP BY run_id, result ->> 'message_id' HAVING count(*) > 1""",
    "every tool call of an ended run has one result": """
        SELECT call.id FROM chats_message AS call LEFT JOIN chats_message AS result ON result.run_id = call.run_id
            AND result.type = 'TOOL_RESPONSE' AND result.payload ->> 'tool_call_id' = call.payload ->> 'call_id'
        JOIN runs_run AS run ON run.id = call.run_id AND run.state IN ('completed', 'failed', 'stopped')
        WHERE call.type = 'TOOL_CALL' GROUP BY call.id HAVING count(result.id) <> 1""",
    "all steps of a completed run are done": """
        SELECT run.id FROM runs_run AS run LEFT JOIN runs_step AS step ON step.run_id = run.id AND step.kind = 'llm'
        WHERE run.state = 'completed' AND run.attempt > 0 GROUP BY run.id HAVING count(step.id) <> run.steps_done
        UNION ALL SELECT run.id FROM runs_run AS run JOIN runs_step AS step ON step.run_id = run.id
        WHERE run.state = 'completed' AND step.state = 'started'""",
    "no message of a completed run is incomplete": """
        SELECT message.id FROM chats_message AS message JOIN runs_run AS run ON run.id = message.run_id
        WHERE run.state = 'completed' AND (message.payload ->> 'incomplete')::boolean""",
    "the tokens of a run are those of its ledger entries": """
        SELECT run.id FROM runs_run AS run LEFT JOIN usage_llmcall AS call ON call.run_id = run.id
        WHERE run.state = 'completed' GROUP BY run.id
        HAVING run.output_tokens <> coalesce(sum(call.output_tokens), 0)
            OR run.input_tokens <> coalesce(sum(call.input_tokens), 0)""",
}


def find_broken() -> dict[str, list[str]]:
    """Return the violated invariants, each with the ids of some rows."""
    broken: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        for name, sql in INVARIANTS.items():
            cursor.execute(f"SELECT * FROM ({sql}) AS found LIMIT 5")
            if rows := [str(row[0]) for row in cursor.fetchall()]:
                broken[name] = rows
    return broken


def check() -> None:
    """Raise `AssertionError` with the violated invariants."""
    broken = find_broken()
    assert not broken, f"Invariants are broken: {broken}"
