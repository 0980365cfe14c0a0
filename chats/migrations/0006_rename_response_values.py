from django.db import migrations

RENAME = """
UPDATE chats_chatactor SET response = %s WHERE id IN (
    SELECT id FROM chats_chatactor WHERE response = %s LIMIT 10000
)
"""
# An agent that answers all messages of several people or beside another agent was set so by somebody.
MARK_CHOSEN = """
UPDATE chats_chatactor agent SET is_response_chosen = true
FROM actors_actor actor
WHERE actor.id = agent.actor_id AND actor.kind = 'agent' AND agent.response = 'always' AND (
    SELECT count(*) FROM chats_chatactor other WHERE other.chat_id = agent.chat_id AND other.ended_at IS NULL
) > 2
"""


def rename(schema_editor, old, new):
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(RENAME, [new, old])
            if not cursor.rowcount:
                return


def forwards(apps, schema_editor):
    rename(schema_editor, "mention", "mentions")
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(MARK_CHOSEN)


def backwards(apps, schema_editor):
    for value in ("mentions", "never"):
        rename(schema_editor, value, "mention")


class Migration(migrations.Migration):
    """`mention` is `mentions` now. Agents whose mode somebody has set are marked."""

    dependencies = [("chats", "0005_rename_wake_to_response")]

    operations = [migrations.RunPython(forwards, backwards)]
