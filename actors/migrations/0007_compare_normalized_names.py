from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Names of public agents are unique without regard to case, width and characters that are not displayed."""

    dependencies = [("actors", "0006_fill_normalized_name")]

    operations = [
        migrations.RemoveConstraint("actor", "public_agent_name_unique"),
        migrations.AddConstraint(
            "actor",
            models.CheckConstraint(
                condition=Q(is_public=False, normalized_name=None)
                | Q(is_public=True, normalized_name__isnull=False, normalized_name__gt=""),
                name="public_agent_has_normalized_name",
            ),
        ),
        migrations.AddConstraint(
            "actor",
            models.UniqueConstraint(
                fields=["normalized_name"],
                condition=Q(is_public=True, taken_down_at=None),
                name="public_agent_name_unique",
            ),
        ),
    ]
