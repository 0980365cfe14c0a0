"""Remember when the time zone of a workspace was changed, because it can be changed once a day."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("workspaces", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="workspace",
            name="time_zone_changed_at",
            field=models.DateTimeField(null=True, verbose_name="time zone changed at"),
        ),
    ]
