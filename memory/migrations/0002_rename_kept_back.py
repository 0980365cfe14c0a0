from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]

    operations = [
        migrations.RenameField(model_name="memoryuse", old_name="kept_back", new_name="withheld"),
        migrations.AlterField(
            model_name="memoryuse", name="withheld", field=models.JSONField(default=list, verbose_name="withheld")
        ),
    ]
