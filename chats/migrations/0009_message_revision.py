"""Store when messages were deleted, and their earlier texts."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    dependencies = [
        ("chats", "0008_add_other_answers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="deleted_at",
            field=models.DateTimeField(null=True, verbose_name="deleted at"),
        ),
        migrations.CreateModel(
            name="MessageRevision",
            fields=[
                ("id", models.UUIDField(default=common.ids.new_id, editable=False, primary_key=True, serialize=False, verbose_name="id")),
                ("text", models.TextField(verbose_name="text")),
                ("written_at", models.DateTimeField(verbose_name="written at")),
                ("replaced_at", models.DateTimeField(verbose_name="replaced at")),
                (
                    "message",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="chats.message",
                        verbose_name="message",
                    ),
                ),
                (
                    "replaced_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="replaced by",
                    ),
                ),
            ],
            options={
                "verbose_name": "earlier text",
                "verbose_name_plural": "earlier texts",
                "indexes": [models.Index(fields=["message", "replaced_at"], name="revisions_of_message")],
            },
        ),
    ]
