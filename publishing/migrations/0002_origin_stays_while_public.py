"""An agent is not deleted while a public copy of it exists. Deleting it sets its status, which no foreign key refuses."""

from django.db import migrations

CREATE = """
CREATE FUNCTION publishing_refuse_deletion_of_origin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM actors_actor AS public_copy
        WHERE public_copy.published_from_agent_id = NEW.id AND public_copy.is_public AND public_copy.taken_down_at IS NULL
    ) THEN
        RAISE EXCEPTION 'agent % has a public copy', NEW.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'origin_stays_while_public', TABLE = 'actors_actor';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER origin_stays_while_public BEFORE UPDATE OF status ON actors_actor FOR EACH ROW
WHEN (NEW.status = 'deleted' AND OLD.status <> 'deleted') EXECUTE FUNCTION publishing_refuse_deletion_of_origin();
"""
DROP = """
DROP TRIGGER origin_stays_while_public ON actors_actor;
DROP FUNCTION publishing_refuse_deletion_of_origin;
"""


class Migration(migrations.Migration):
    dependencies = [("publishing", "0001_initial_2026_11_28"), ("actors", "0003_initial_2026_11_28")]

    operations = [migrations.RunSQL(CREATE, DROP)]
