from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0002_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='notification',
            name='tool_server_id',
            field=models.UUIDField(null=True, verbose_name='tool server id'),
        ),
        migrations.AlterField(
            model_name='notification',
            name='type',
            field=models.CharField(choices=[('mention', 'mention'), ('suggestion_created', 'suggestion made'), ('suggestion_accepted', 'suggestion accepted'), ('suggestion_rejected', 'suggestion rejected'), ('suggestion_reopened', 'suggestion reopened'), ('suggestion_unused', 'suggestion merged, but not used'), ('lock_lost', 'lock lost'), ('draft_requested', 'draft requested'), ('draft_handed_over', 'draft handed over'), ('draft_unlocked', 'draft unlocked'), ('merge_done', 'merge done'), ('merge_failed', 'merge failed'), ('approval_asked', 'waits for approval'), ('model_changed', 'model changed'), ('budget_warning', 'most of a budget used'), ('tools_changed', 'tools changed by their server')], max_length=24, verbose_name='type'),
        ),
    ]
