"""A listener that records the calls of a hook, instead of the listeners of `config/hooks.py`."""

from typing import Any

import pytest

from common.hooks import Hook


def record_calls(monkeypatch: pytest.MonkeyPatch, hook: Hook[...]) -> list[tuple[Any, ...]]:
    """Return the list of the calls of this hook from now on, each as its arguments."""
    told: list[tuple[Any, ...]] = []

    def listener(*facts: Any) -> list[Any]:
        told.append(facts)
        return []

    monkeypatch.setattr(hook, "_listeners", (listener,))
    return told
