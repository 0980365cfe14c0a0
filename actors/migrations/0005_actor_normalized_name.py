from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("actors", "0004_name_the_change_of_email")]

    operations = [
        migrations.AddField(
            "actor", "normalized_name", models.TextField(blank=True, null=True, verbose_name="normalized name")
        )
    ]
