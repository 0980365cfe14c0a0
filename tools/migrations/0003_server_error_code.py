"""Store why an MCP server has failed as a code, which the web app translates."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0002_tool_annotations")]

    operations = [
        migrations.AddField(
            model_name="toolserver",
            name="error_code",
            field=models.CharField(blank=True, default="", max_length=20, verbose_name="error code"),
        ),
    ]
