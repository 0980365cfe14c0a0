"""Factories of people."""

from datetime import timedelta

from django.contrib.sessions.models import Session
from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, Sequence
from factory.django import DjangoModelFactory, Password

from actors.models import Actor, EmailChange, Kind
from common.clock import now

PASSWORD = "a long enough password"


class PersonFactory(DjangoModelFactory[Actor]):
    """A person who has signed up and confirmed the address. `handle`, `username` and `email` follow from the name."""

    class Meta:
        model = Actor

    kind = Kind.HUMAN
    name = Sequence(lambda n: f"Person {n}")
    handle = LazyAttribute(lambda person: person.name.lower().replace(" ", "-"))
    username = SelfAttribute("handle")
    email = LazyAttribute(lambda person: f"{person.handle}@example.org")
    password = Password(PASSWORD)
    is_active = True


class EmailChangeFactory(DjangoModelFactory[EmailChange]):
    """A requested change of a person's address, which has just expired."""

    class Meta:
        model = EmailChange

    email = Sequence(lambda n: f"new-{n}@example.org")
    digest = Sequence(lambda n: f"digest-{n}")
    created_at = LazyFunction(now)
    expires_at = LazyFunction(now)


class SessionFactory(DjangoModelFactory[Session]):
    """A browser session without a person, valid for a day."""

    class Meta:
        model = Session

    session_key = Sequence(lambda n: f"session{n}")
    session_data = "x"
    expire_date = LazyFunction(lambda: now() + timedelta(days=1))
