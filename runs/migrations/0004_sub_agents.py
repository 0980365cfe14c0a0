from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("runs", "0003_step_effect")]

    operations = [
        migrations.RemoveConstraint(model_name="run", name="run_has_chat_or_job_input"),
        migrations.RenameField(model_name="run", old_name="job_input", new_name="input"),
        migrations.AlterField(
            model_name="run", name="input", field=models.JSONField(null=True, verbose_name="input")
        ),
        migrations.AddField(
            model_name="run",
            name="call_id",
            field=models.CharField(blank=True, default="", max_length=80, verbose_name="call id"),
        ),
        migrations.AddField(
            model_name="run", name="metadata", field=models.JSONField(null=True, verbose_name="metadata")
        ),
        migrations.AddField(
            model_name="run", name="deadline_at", field=models.DateTimeField(null=True, verbose_name="deadline at")
        ),
        migrations.AlterField(
            model_name="run",
            name="origin",
            field=models.CharField(
                choices=[
                    ("wake", "wake"),
                    ("retry", "retry"),
                    ("compare", "comparison"),
                    ("summary", "summary"),
                    ("merge", "merge"),
                    ("task", "task of another agent"),
                ],
                default="wake",
                max_length=12,
                verbose_name="origin",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=Q(chat__isnull=False, input__isnull=True, parent=None)
                | Q(chat__isnull=False, input__isnull=False, parent__isnull=False)
                | Q(chat=None, input__isnull=False, parent=None),
                name="job_or_sub_agent_has_input",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(
                condition=Q(parent__isnull=False), fields=["parent", "call_id"], name="one_child_per_call"
            ),
        ),
    ]
