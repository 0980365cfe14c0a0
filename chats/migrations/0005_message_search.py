"""Search the names of files, too. The column is no field of the model, because every read of a message would then load it."""

from django.db import migrations, models

ADD_COLUMN = """
ALTER TABLE chats_message
    DROP COLUMN words,
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        CASE
            WHEN metadata IS NOT NULL THEN NULL
            WHEN type = 'TEXT_MESSAGE' THEN search_words_v1(payload ->> 'text')
            WHEN type = 'FILE_MESSAGE' AND payload -> 'is_deleted' IS DISTINCT FROM 'true'
                THEN search_words_v1(payload ->> 'name')
        END
    ) STORED,
    ALTER COLUMN words SET STATISTICS 1000
"""
ADD_COLUMN_OF_TEXTS = """
ALTER TABLE chats_message
    DROP COLUMN words,
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        CASE WHEN type = 'TEXT_MESSAGE' AND metadata IS NULL THEN search_words_v1(payload ->> 'text') END
    ) STORED,
    ALTER COLUMN words SET STATISTICS 1000
"""
ADD_INDEX = "CREATE INDEX messages_by_words ON chats_message USING gin (words) WITH (gin_pending_list_limit = 512)"


class Migration(migrations.Migration):
    dependencies = [("chats", "0004_add_thumbs")]

    operations = [
        migrations.RunSQL([ADD_COLUMN, ADD_INDEX], [ADD_COLUMN_OF_TEXTS, ADD_INDEX]),
        migrations.RemoveIndex(model_name="message", name="texts_by_time"),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["-created_at", "-id"],
                condition=models.Q(type__in=("TEXT_MESSAGE", "FILE_MESSAGE"), metadata__isnull=True),
                name="spoken_by_time",
            ),
        ),
    ]
