from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0008_fewer_indexes")]

    operations = [
        migrations.RenameField("run", "quotes_trigger", "replies_to_trigger"),
        migrations.AlterField(
            "run", "replies_to_trigger", models.BooleanField(default=False, verbose_name="replies to trigger")
        ),
    ]
