"""How news travels up the line of apps: a seam is declared where the news is made, and `config/hooks.py` says who listens.

A listener is an ordinary function, called in order, inside the caller's transaction; what it returns is collected.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Seam(Generic[P, T]):
    """One kind of news. Calling it calls the listeners and returns what they returned, joined to one list."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._listeners: tuple[Callable[P, list[T]], ...] = ()

    def connect(self, listeners: list[Callable[..., Any]]) -> None:
        """Set who listens, in order. Called once, at start."""
        self._listeners = tuple(listeners)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[T]:
        return [item for listener in self._listeners for item in listener(*args, **kwargs)]
