from django.db import migrations


class Migration(migrations.Migration):
    """Nothing is left to do: `0001_initial` creates the tables with all that this migration added to them."""

    dependencies = [("agents", "0001_initial")]

    operations = []
