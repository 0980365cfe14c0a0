"""Store which messages were edited or deleted after a run had read them."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_add_other_answers")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="changed_ids",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.UUIDField(), default=list, size=None, verbose_name="changed ids"
            ),
        ),
    ]
