"""Let a subject have another balance after the time zone of its workspace was changed."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("usage", "0001_initial"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="balance",
            name="one_balance_per_period",
        ),
        migrations.AddConstraint(
            model_name="balance",
            constraint=models.UniqueConstraint(
                fields=("budget", "subject_id", "starts_on", "ends_at"),
                name="one_balance_per_period",
                nulls_distinct=False,
            ),
        ),
    ]
