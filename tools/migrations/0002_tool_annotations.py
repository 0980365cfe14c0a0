"""Store what MCP servers say of a tool besides its description."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="workspacetool",
            name="annotations",
            field=models.JSONField(default=dict, verbose_name="annotations"),
        ),
    ]
