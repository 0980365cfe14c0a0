from django.db import migrations, models

TYPES = ["TEXT_MESSAGE", "FILE_MESSAGE", "THINKING", "TOOL_CALL", "TOOL_RESPONSE"]
CONDITION = models.Q(
    models.Q(("author__isnull", False), ("type__in", TYPES)),
    models.Q(models.Q(("type__in", TYPES), _negated=True), ("author", None)),
    _connector="OR",
)


class Migration(migrations.Migration):
    """Rename a constraint. PostgreSQL renames it without reading the messages again."""

    dependencies = [("chats", "0002_initial")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE chats_message RENAME CONSTRAINT no_author_means_system TO author_by_type",
                    "ALTER TABLE chats_message RENAME CONSTRAINT author_by_type TO no_author_means_system",
                )
            ],
            state_operations=[
                migrations.RemoveConstraint("message", "no_author_means_system"),
                migrations.AddConstraint("message", models.CheckConstraint(condition=CONDITION, name="author_by_type")),
            ],
        )
    ]
