from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """A token belongs to an actor: a person or, now, an agent. An outside program may answer for an agent."""

    dependencies = [("actors", "0008_accepts_tasks")]

    operations = [
        migrations.RenameField("apitoken", "person", "actor"),
        migrations.AlterField(
            "apitoken",
            "actor",
            models.ForeignKey(
                on_delete=models.CASCADE,
                related_name="api_tokens",
                to=settings.AUTH_USER_MODEL,
                verbose_name="actor",
            ),
        ),
        migrations.AddField("actor", "runs_outside", models.BooleanField(default=False, verbose_name="runs outside")),
    ]
