"""Secrets: a type that does not print itself, and text that is bound to its owner when it is stored (D17, D18)."""

import hashlib
import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from common.logs import hide


class Secret:
    """A value that must not reach a log, an error, a frame or a trace: it prints as stars."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The plain text; call it at the last moment, where it goes over the wire. No later log line shows it."""
        hide(self._value)
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        raise TypeError("A secret is not pickled.")


class WrongOwner(Exception):
    """The stored text was sealed for somebody else, or for another purpose, or with a key we do not have."""


def digest_of(secret: str) -> str:
    """Return what is stored of a random secret that is only ever compared: a token, the key of a link."""
    return hashlib.sha256(secret.encode()).hexdigest()


@lru_cache(maxsize=4)
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def seal(secret: Secret, *, owner: str, purpose: str) -> str:
    """Encrypt for storing. Owner and purpose are inside: a row moved elsewhere does not open (guarantees §2.12)."""
    plain = json.dumps({"o": owner, "p": purpose, "s": secret.reveal()})
    return _fernet(tuple(settings.SECRET_KEYS)).encrypt(plain.encode()).decode()


def unseal(sealed: str, *, owner: str, purpose: str) -> Secret:
    """The secret again. Raises `WrongOwner` when it was not sealed for this owner and purpose, or cannot be opened."""
    try:
        plain = json.loads(_fernet(tuple(settings.SECRET_KEYS)).decrypt(sealed.encode()))
    except InvalidToken as error:
        raise WrongOwner("The stored secret does not open with any of our keys.") from error
    if (plain["o"], plain["p"]) != (owner, purpose):
        raise WrongOwner("The stored secret belongs to somebody else.")
    return Secret(plain["s"])


def is_under_newest_key(sealed: str) -> bool:
    """Whether a stored secret opens with the newest key alone: the older ones can go as far as it is concerned."""
    try:
        _fernet(tuple(settings.SECRET_KEYS[:1])).decrypt(sealed.encode())
    except InvalidToken:
        return False
    return True


def rotated(sealed: str) -> str:
    """The same secret under the newest key (D18). Raises `WrongOwner` when no key opens it."""
    try:
        return _fernet(tuple(settings.SECRET_KEYS)).rotate(sealed.encode()).decode()
    except InvalidToken as error:
        raise WrongOwner("The stored secret does not open with any of our keys.") from error
