"""Results are only appended. The purge of a workspace deletes them, in a transaction that says so by a local setting
(`allow_purge` in `common/database.py`)."""

from django.db import migrations

CREATE = """
CREATE FUNCTION refuse_change_of_append_only_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('atelier.purge', true) = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are only appended', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'append_only', TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER results_are_append_only BEFORE UPDATE OR DELETE ON boards_taskresult FOR EACH ROW
EXECUTE FUNCTION refuse_change_of_append_only_row();
"""
DROP = """
DROP TRIGGER results_are_append_only ON boards_taskresult;
DROP FUNCTION refuse_change_of_append_only_row;
"""


class Migration(migrations.Migration):
    dependencies = [("boards", "0001_add_boards")]

    operations = [migrations.RunSQL(CREATE, DROP)]
