from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0002_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="step",
            name="effect",
            field=models.CharField(
                blank=True, choices=[("read", "read"), ("write", "write")], default="", max_length=5, verbose_name="effect"
            ),
        ),
    ]
