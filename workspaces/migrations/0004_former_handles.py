import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workspaces', '0003_board_settings'),
    ]

    operations = [
        migrations.AddField(
            model_name='workspace',
            name='former_handles',
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.SlugField(max_length=40),
                blank=True,
                default=list,
                size=None,
                verbose_name='former handles',
            ),
        ),
    ]
