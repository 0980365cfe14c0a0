from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("workspaces", "0004_context_settings")]

    operations = [migrations.RemoveField(model_name="workspace", name="embedding_model")]
