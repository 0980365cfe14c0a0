from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("boards", "0003_result_schemas")]

    operations = [
        migrations.AddField(
            model_name="board",
            name="read_texts",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "of its person only"),
                    ("others", "of other participants"),
                    ("outside", "from outside"),
                ],
                default="",
                max_length=8,
                verbose_name="read texts",
            ),
        ),
    ]
