"""Hooks: how an app calls the apps above it. The app declares a hook, and `config/hooks.py` lists the listeners of each hook.

A listener is an ordinary function. Listeners are called in order, inside the caller's transaction.
"""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Hook(Generic[P]):
    """A hook whose listeners return nothing that is used.

    It has the name of an event; its comment says whether it is called before or after the event.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._listeners: tuple[Callable[..., Any], ...] = ()

    def connect(self, listeners: list[Callable[..., Any]]) -> None:
        """Set the listeners, in the order in which they are called. Django's start calls this once."""
        self._listeners = tuple(listeners)

    def call(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call the listeners."""
        for listener in self._listeners:
            listener(*args, **kwargs)


class CollectingHook(Hook[P], Generic[P, T]):
    """A hook with results. A listener returns a list, or None."""

    def call(self, *args: P.args, **kwargs: P.kwargs) -> list[T]:  # type: ignore[override]
        """Call the listeners, and return the items of all lists that they return."""
        items: list[T] = []
        for listener in self._listeners:
            items += listener(*args, **kwargs) or []
        return items
