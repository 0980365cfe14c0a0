"""The writes of actors that are not about agents."""

from actors.models import Actor
from events import audit
from events.bells import ring


def change_profile(*, person: Actor, name: str | None = None, language: str | None = None) -> Actor:
    """Change what a person says of themselves; null leaves it."""
    if name is not None:
        person.name = name.strip() or person.name
    if language is not None:
        person.language = language
    person.save(update_fields=["name", "language"])
    audit.record(person, "profile.changed", object_id=person.id)
    ring([person.id], "me")
    return person
