"""Store the words of messages. The column is no field of the model, because every read of a message would then load it."""

from django.db import migrations

# What a message of 100,000 characters may need of the 1 MB of a tsvector. Pairs of characters are cut by two regular expressions,
# because `substr` of a long text takes time in proportion to its position.
CREATE_FUNCTION = r"""
CREATE FUNCTION search_words_v1(body text) RETURNS tsvector LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (
    SELECT array_to_tsvector(ARRAY(
        SELECT left(word[1], 40)
        FROM regexp_matches(
            lower(left(normalize(left(body, 100000), NFKC), 100000)),
            '[^\W\u2E80-\u2FDF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g'
        ) word
        UNION ALL
        SELECT pair
        FROM regexp_matches(
            left(normalize(left(body, 100000), NFKC), 100000),
            '[\u2E80-\u2FDF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF]+', 'g'
        ) run,
        LATERAL (
            SELECT odd[1] AS pair FROM regexp_matches(run[1], '..', 'g') odd
            UNION ALL SELECT even[1] FROM regexp_matches(substr(run[1], 2), '..', 'g') even
            UNION ALL SELECT right(run[1], 1)
        ) pairs
    ))
)
"""

ADD_COLUMN = """
ALTER TABLE chats_message
    ADD COLUMN words tsvector GENERATED ALWAYS AS (
        CASE WHEN type = 'TEXT_MESSAGE' AND metadata IS NULL THEN search_words_v1(payload ->> 'text') END
    ) STORED,
    ALTER COLUMN words SET STATISTICS 1000
"""


class Migration(migrations.Migration):
    dependencies = [("chats", "0002_initial_2026_11_28")]

    operations = [
        migrations.RunSQL(CREATE_FUNCTION, "DROP FUNCTION search_words_v1"),
        migrations.RunSQL(ADD_COLUMN, "ALTER TABLE chats_message DROP COLUMN words"),
        # The list of entries that are not in the index yet is short, so that no insert waits long until they are.
        migrations.RunSQL(
            "CREATE INDEX messages_by_words ON chats_message USING gin (words) WITH (gin_pending_list_limit = 512)",
            "DROP INDEX messages_by_words",
        ),
    ]
