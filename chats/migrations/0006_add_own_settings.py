"""Let people mute and archive a chat for themselves."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chats', '0005_message_search'),
    ]

    operations = [
        migrations.AddField(
            model_name='chatactor',
            name='is_archived',
            field=models.BooleanField(default=False, verbose_name='is archived'),
        ),
        migrations.AddField(
            model_name='chatactor',
            name='is_muted',
            field=models.BooleanField(default=False, verbose_name='is muted'),
        ),
        migrations.AddField(
            model_name='chatactor',
            name='muted_until',
            field=models.DateTimeField(blank=True, null=True, verbose_name='muted until'),
        ),
        migrations.AddConstraint(
            model_name='chatactor',
            constraint=models.CheckConstraint(condition=models.Q(('is_muted', True), ('muted_until', None), _connector='OR'), name='only_muted_chat_has_end'),
        ),
    ]
