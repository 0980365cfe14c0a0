"""Store the content of a spec as one JSON document, with its tools, instead of a column for each field and a row for each tool."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import migrations, models
from django.db.models.fields.json import KeyTransform

FILL_CONTENT = """
    UPDATE agents_agentspec AS spec
    SET content = jsonb_build_object(
        'prompt', spec.prompt,
        'model', spec.model,
        'parameters', spec.parameters,
        'limits', spec.limits,
        'memory', spec.memory,
        'context', spec.context,
        'tools', COALESCE(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'tool', use.tool,
                        'is_enabled', use.is_enabled,
                        'custom_config', use.custom_config,
                        'usage_instructions', use.usage_instructions
                    )
                    ORDER BY use.position, use.id
                )
                FROM agents_agenttoolconfig AS use
                WHERE use.spec_id = spec.id
            ),
            '[]'
        )
    )
"""
FILL_COLUMNS = """
    UPDATE agents_agentspec
    SET prompt = content->>'prompt',
        model = content->>'model',
        parameters = jsonb_strip_nulls(content->'parameters'),
        limits = content->'limits',
        memory = content->>'memory',
        context = content->'context';
    INSERT INTO agents_agenttoolconfig (id, position, tool, is_enabled, custom_config, usage_instructions, spec_id)
    SELECT
        gen_random_uuid(),
        use.position - 1,
        use.item->>'tool',
        (use.item->>'is_enabled')::boolean,
        use.item->'custom_config',
        use.item->>'usage_instructions',
        spec.id
    FROM agents_agentspec AS spec
    CROSS JOIN LATERAL jsonb_array_elements(spec.content->'tools') WITH ORDINALITY AS use(item, position)
"""


class Migration(migrations.Migration):
    dependencies = [("agents", "0006_rename_draft_snapshot")]

    operations = [
        migrations.AddField(
            model_name="agentspec",
            name="content",
            field=models.JSONField(default=dict, verbose_name="content"),
            preserve_default=False,
        ),
        migrations.RunSQL(FILL_CONTENT, reverse_sql=FILL_COLUMNS),
        migrations.DeleteModel(name="AgentToolConfig"),
        migrations.RemoveField(model_name="agentspec", name="prompt"),
        migrations.RemoveField(model_name="agentspec", name="model"),
        migrations.RemoveField(model_name="agentspec", name="parameters"),
        migrations.RemoveField(model_name="agentspec", name="limits"),
        migrations.RemoveField(model_name="agentspec", name="memory"),
        migrations.RemoveField(model_name="agentspec", name="context"),
        migrations.AddIndex(
            model_name="agentspec",
            index=GinIndex(OpClass(KeyTransform("tools", "content"), name="jsonb_path_ops"), name="specs_by_tool"),
        ),
    ]
