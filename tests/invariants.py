"""What must hold in the database whatever has happened: asked in SQL after every scenario of `make chaos`."""

from django.db import connection

# Each finds rows that must not be there. Sizes and times are those of a scenario that has come to its end.
INVARIANTS = {
    "a run at work has a lease that is kept": """
        SELECT id FROM runs_run WHERE state = 'running' AND lease_until < now() - interval '30 seconds'""",
    "a run that is over belongs to nobody": """
        SELECT id FROM runs_run WHERE state IN ('completed', 'failed', 'stopped')
        AND (lease_owner <> '' OR lease_until IS NOT NULL OR ended_at IS NULL)""",
    "one run at a time works for a concurrency key": """
        SELECT concurrency_key FROM runs_run WHERE state IN ('running', 'waiting_child')
        GROUP BY concurrency_key HAVING count(*) > 1""",
    "a run has not crashed more often than it was begun": """
        SELECT id FROM runs_run WHERE crashes > attempt""",
    "a message has its number alone, and the chat has counted it": """
        SELECT chat_id FROM chats_message GROUP BY chat_id, seq HAVING count(*) > 1
        UNION ALL SELECT chat.id FROM chats_chat AS chat JOIN chats_message AS message ON message.chat_id = chat.id
        WHERE greatest(message.seq, message.version) > chat.version""",
    "what changes in a chat is counted by it": """
        SELECT run.id FROM runs_run AS run JOIN chats_chat AS chat ON chat.id = run.chat_id WHERE run.version > chat.version
        UNION ALL SELECT participant.id FROM chats_chatactor AS participant JOIN chats_chat AS chat ON chat.id = participant.chat_id
        WHERE participant.version > chat.version""",
    "an agent says one thing in a step": """
        SELECT run_id FROM runs_step WHERE kind = 'llm' AND result ->> 'message_id' IS NOT NULL
        GROUP BY run_id, result ->> 'message_id' HAVING count(*) > 1""",
    "every call has one result": """
        SELECT call.id FROM chats_message AS call LEFT JOIN chats_message AS result ON result.run_id = call.run_id
            AND result.type = 'TOOL_RESPONSE' AND result.payload ->> 'tool_call_id' = call.payload ->> 'call_id'
        JOIN runs_run AS run ON run.id = call.run_id AND run.state IN ('completed', 'failed', 'stopped')
        WHERE call.type = 'TOOL_CALL' GROUP BY call.id HAVING count(result.id) <> 1""",
    "a run that was completed has done all its steps": """
        SELECT run.id FROM runs_run AS run LEFT JOIN runs_step AS step ON step.run_id = run.id AND step.kind = 'llm'
        WHERE run.state = 'completed' AND run.attempt > 0 GROUP BY run.id HAVING count(step.id) <> run.steps_done
        UNION ALL SELECT run.id FROM runs_run AS run JOIN runs_step AS step ON step.run_id = run.id
        WHERE run.state = 'completed' AND step.state = 'started'""",
    "nothing that was completed was cut": """
        SELECT message.id FROM chats_message AS message JOIN runs_run AS run ON run.id = message.run_id
        WHERE run.state = 'completed' AND (message.payload ->> 'incomplete')::boolean""",
    "a run costs what the ledger says": """
        SELECT run.id FROM runs_run AS run LEFT JOIN runs_llmcall AS call ON call.run_id = run.id
        WHERE run.state = 'completed' GROUP BY run.id
        HAVING run.output_tokens <> coalesce(sum(call.output_tokens), 0)
            OR run.input_tokens <> coalesce(sum(call.input_tokens), 0)""",
}  # fmt: skip


def find_broken() -> dict[str, list[str]]:
    """Return what does not hold, each with the ids of some rows that show it."""
    broken: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        for name, sql in INVARIANTS.items():
            cursor.execute(f"SELECT * FROM ({sql}) AS found LIMIT 5")
            if rows := [str(row[0]) for row in cursor.fetchall()]:
                broken[name] = rows
    return broken


def check() -> None:
    """Raise `AssertionError` with what does not hold."""
    broken = find_broken()
    assert not broken, f"Invariants are broken: {broken}"
