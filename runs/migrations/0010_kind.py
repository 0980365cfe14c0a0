from django.db import migrations, models
from django.db.models import Q

import runs.models

SET_KINDS = """
UPDATE runs_run SET
    kind = CASE WHEN chat_id IS NULL THEN origin WHEN parent_id IS NOT NULL THEN 'sub_agent' ELSE 'comparison' END,
    origin = CASE WHEN chat_id IS NULL THEN 'job' ELSE origin END
WHERE chat_id IS NULL OR parent_id IS NOT NULL OR stamp ->> 'compared' IS NOT NULL
"""
RESTORE_ORIGINS = "UPDATE runs_run SET origin = kind WHERE chat_id IS NULL"
SET_AUTHORS = """
UPDATE runs_run SET input = runs_run.input || jsonb_build_object('author_id', author.id, 'author_name', author.name)
FROM runs_run parent JOIN actors_actor author ON author.id = parent.agent_id
WHERE parent.id = runs_run.parent_id
"""
REMOVE_AUTHORS = """
UPDATE runs_run SET input = input - 'author_id' - 'author_name' - 'max_seconds' WHERE parent_id IS NOT NULL
"""
# PostgreSQL alters no table with foreign keys that are still to be checked.
CHECK_FOREIGN_KEYS = "SET CONSTRAINTS ALL IMMEDIATE"


class Migration(migrations.Migration):
    dependencies = [("actors", "0001_initial"), ("runs", "0009_rename_quotes_trigger")]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="job_or_sub_agent_has_input"),
        migrations.AddField(
            model_name="run",
            name="kind",
            field=models.CharField(
                choices=runs.models.list_kind_choices, default="chat", max_length=24, verbose_name="kind"
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="origin",
            field=models.CharField(
                choices=[
                    ("wake", "wake"),
                    ("retry", "retry"),
                    ("compare", "comparison"),
                    ("task", "task"),
                    ("job", "job"),
                ],
                default="wake",
                max_length=12,
                verbose_name="origin",
            ),
        ),
        migrations.RunSQL([SET_KINDS, CHECK_FOREIGN_KEYS], [RESTORE_ORIGINS, CHECK_FOREIGN_KEYS]),
        migrations.RunSQL([SET_AUTHORS, CHECK_FOREIGN_KEYS], [REMOVE_AUTHORS, CHECK_FOREIGN_KEYS]),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=Q(kind__in=["chat", "comparison"], chat__isnull=False, parent=None, input__isnull=True)
                | Q(kind="sub_agent", chat__isnull=False, parent__isnull=False, input__isnull=False)
                | ~Q(kind__in=["", "chat", "comparison", "sub_agent"]) & Q(parent=None, input__isnull=False),
                name="run_has_columns_of_kind",
            ),
        ),
    ]
