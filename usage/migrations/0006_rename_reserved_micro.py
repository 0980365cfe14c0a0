from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("usage", "0005_token_factors")]

    operations = [
        migrations.RemoveConstraint(model_name="balance", name="balance_held_not_negative"),
        migrations.RenameField(model_name="balance", old_name="held_micro", new_name="reserved_micro"),
        migrations.AlterField(
            model_name="balance",
            name="reserved_micro",
            field=models.BigIntegerField(default=0, verbose_name="reserved micro"),
        ),
        migrations.AddConstraint(
            model_name="balance",
            constraint=models.CheckConstraint(condition=Q(reserved_micro__gte=0), name="balance_reserved_not_negative"),
        ),
    ]
