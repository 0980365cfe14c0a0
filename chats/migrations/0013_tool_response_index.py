"""Index the results of tools of each chat, without a lock that keeps messages from being written."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("chats", "0012_index_conditions"),
    ]

    operations = [
        # An upgrade that was interrupted has left an invalid index.
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS tool_responses_of_chat", reverse_sql=migrations.RunSQL.noop
        ),
        AddIndexConcurrently(
            model_name="message",
            index=models.Index(
                condition=models.Q(("type", "TOOL_RESPONSE")), fields=["chat"], name="tool_responses_of_chat"
            ),
        ),
    ]
