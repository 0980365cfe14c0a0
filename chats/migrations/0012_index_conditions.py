"""Correct the conditions of two indexes: `metadata = null` is never true."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chats", "0011_important_messages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="message",
            name="texts_by_time",
        ),
        migrations.RemoveIndex(
            model_name="message",
            name="important_messages",
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(("metadata__isnull", True), ("type", "TEXT_MESSAGE")),
                fields=["-created_at", "-id"],
                name="texts_by_time",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(
                    ("metadata__isnull", True),
                    (
                        "type__in",
                        (
                            "FILE_MESSAGE",
                            "SPEC_SAVED",
                            "DRAFT_APPLIED",
                            "DRAFT_MERGED",
                            "SUGGESTION_ACCEPTED",
                            "APPROVAL_DECIDED",
                        ),
                    ),
                ),
                fields=["chat", "-seq"],
                name="important_messages",
            ),
        ),
    ]
