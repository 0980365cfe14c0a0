"""Store the texts of listings in the form in which they are searched now, with the names that `0006_fill_normalized_name` of actors
has given."""

from importlib import import_module

from django.db import migrations


def update(apps, schema_editor):
    normalize = import_module("actors.migrations.0006_fill_normalized_name").normalize
    listings = apps.get_model("publishing", "Listing").objects.select_related("agent")
    for listing in listings.iterator():
        texts = [listing.agent.name, *listing.search_text.split("\n")[1:]]
        listings.filter(pk=listing.pk).update(search_text="\n".join(normalize(text) for text in texts))


class Migration(migrations.Migration):
    dependencies = [("publishing", "0002_origin_stays_while_public"), ("actors", "0007_compare_normalized_names")]

    operations = [migrations.RunPython(update, migrations.RunPython.noop)]
