"""Store the normalized names of public agents. Of public agents whose names look alike, all but the oldest get a number."""

import re
import unicodedata

from django.db import migrations

IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\ufe00-\ufe0f\ufff0-\ufff8\U000e0000-\U000e0fff]"
)


def normalize(name):
    """Return what `normalize_for_comparison` returned when this migration was written."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return " ".join(IGNORABLE.sub("", text).replace("\u2800", " ").split())


def fill(apps, schema_editor):
    taken = {""}
    public = apps.get_model("actors", "Actor").objects.filter(is_public=True)
    for agent in public.order_by("-is_shipped", "published_at", "pk").iterator():
        name, number = agent.name, 1
        if agent.taken_down_at is None:
            while normalize(name) in taken:
                number += 1
                name = f"{agent.name[:70]} {number}"
            taken.add(normalize(name))
        public.filter(pk=agent.pk).update(name=name, normalized_name=normalize(name) or agent.handle)


class Migration(migrations.Migration):
    dependencies = [("actors", "0005_actor_normalized_name")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
