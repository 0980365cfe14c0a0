from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the column; the constraint on its values and its choices follow when the values are renamed."""

    dependencies = [("chats", "0004_message_metadata")]

    operations = [
        migrations.RemoveConstraint("chatactor", "wake_known"),
        migrations.RenameField("chatactor", "wake", "response"),
        migrations.AddField(
            "chatactor",
            "is_response_chosen",
            models.BooleanField(default=False, verbose_name="is response chosen"),
        ),
    ]
