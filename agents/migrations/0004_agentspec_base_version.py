from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("agents", "0003_agentspec_context")]

    operations = [
        migrations.RenameField(model_name="agentspec", old_name="base_number", new_name="base_version"),
        migrations.AlterField(
            model_name="agentspec",
            name="base_version",
            field=models.PositiveIntegerField(null=True, verbose_name="base version"),
        ),
    ]
