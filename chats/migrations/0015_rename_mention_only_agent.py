from django.db import migrations

RENAME = """
UPDATE chats_message
SET payload = (payload - '{old}_id' - '{old}_name')
    || jsonb_build_object('{new}_name', payload->'{old}_name')
    || CASE WHEN payload ? '{old}_id' THEN jsonb_build_object('{new}_id', payload->'{old}_id') ELSE '{{}}' END
WHERE payload ? '{old}_name'
"""


class Migration(migrations.Migration):
    """In the payload of a person who joins, `mention_only_id` and `mention_only_name` were `wake_id` and `wake_name`."""

    dependencies = [("chats", "0014_pinned_messages")]

    operations = [
        migrations.RunSQL(
            RENAME.format(old="wake", new="mention_only"), RENAME.format(old="mention_only", new="wake"), elidable=True
        )
    ]
