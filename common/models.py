"""Fields that many tables share. No tables here."""

from django.db import models

from common.ids import new_id


class Identified(models.Model):
    """A row with a UUIDv7 made by the application."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


class Revised(models.Model):
    """A row that people edit: a write names the revision it was made on, a stale one is refused."""

    revision = models.PositiveIntegerField(default=1)

    class Meta:
        abstract = True
