"""Secrets: a type that is never printed, and encryption that binds a stored secret to its owner (SEC17, SEC18)."""

import hashlib
import json
from functools import lru_cache
from typing import NoReturn

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from common.logs import hide_secret


class Secret:
    """A value that must not get into a log, an error, a frame or a traceback: it is printed as stars."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the plain text, and hide it in all later log lines. Call it only where the text is sent."""
        hide_secret(self._value)
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("A secret is not pickled.")


class DecryptionFailed(Exception):
    """The stored text was encrypted for another owner or purpose, or with a key that is not configured."""


def hash_secret(secret: str) -> str:
    """Return the hash that is stored instead of a random secret which is only compared, such as a token or the key of a link."""
    return hashlib.sha256(secret.encode()).hexdigest()


@lru_cache(maxsize=4)
def _build_fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def encrypt_for(secret: Secret, *, owner: str, purpose: str) -> str:
    """Encrypt a secret for storing. Owner and purpose are encrypted with it, so that a row copied to another owner is useless."""
    plain = json.dumps({"o": owner, "p": purpose, "s": secret.reveal()})
    return _build_fernet(tuple(settings.SECRET_KEYS)).encrypt(plain.encode()).decode()


def decrypt_for(encrypted: str, *, owner: str, purpose: str, keep: bool = False) -> Secret:
    """Decrypt a stored secret. `keep`: remember it in this process, because every run needs it, and decrypting takes 0.2 ms.

    Raises `DecryptionFailed` if it was encrypted for another owner or purpose, or with an unknown key.
    """
    decrypt = _decrypt_and_keep if keep else _decrypt
    return decrypt(_build_fernet(tuple(settings.SECRET_KEYS)), encrypted, owner, purpose)


def _decrypt(fernet: MultiFernet, encrypted: str, owner: str, purpose: str) -> Secret:
    try:
        plain = json.loads(fernet.decrypt(encrypted.encode()))
    except InvalidToken as error:
        raise DecryptionFailed("None of the keys decrypts the stored secret.") from error
    if (plain["o"], plain["p"]) != (owner, purpose):
        raise DecryptionFailed("The stored secret belongs to another owner or purpose.")
    return Secret(plain["s"])


# The encrypted text and the keys are parts of the cache's key: a secret that was changed is decrypted anew, and one whose key was
# removed is refused.
_decrypt_and_keep = lru_cache(maxsize=256)(_decrypt)


def is_under_newest_key(encrypted: str) -> bool:
    """Return whether the newest key alone decrypts the stored secret, so that the older keys can be removed."""
    try:
        _build_fernet(tuple(settings.SECRET_KEYS[:1])).decrypt(encrypted.encode())
    except InvalidToken:
        return False
    return True


def reencrypt(encrypted: str) -> str:
    """Encrypt a stored secret again with the newest key (SEC18). Raise `DecryptionFailed` when no key decrypts it."""
    try:
        return _build_fernet(tuple(settings.SECRET_KEYS)).rotate(encrypted.encode()).decode()
    except InvalidToken as error:
        raise DecryptionFailed("None of the keys decrypts the stored secret.") from error
