"""Index the tools of specs, to find the agents that have a public agent as a tool without reading the tools of all versions."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("agents", "0004_agentspec_base_version"),
    ]

    operations = [
        # An upgrade that was interrupted has left an invalid index.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS specs_by_tool", reverse_sql=migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name="agenttoolconfig",
            index=models.Index(fields=["tool"], name="specs_by_tool"),
        ),
    ]
