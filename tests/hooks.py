"""Record the calls of a hook, in place of its listeners in `config/hooks.py`."""

from typing import Any

import pytest

from common.hooks import Hook


def record_calls(monkeypatch: pytest.MonkeyPatch, hook: Hook[...]) -> list[tuple[Any, ...]]:
    """Return a list of the arguments of each call of this hook from now on."""
    calls: list[tuple[Any, ...]] = []

    def listener(*args: Any) -> list[Any]:
        calls.append(args)
        return []

    monkeypatch.setattr(hook, "_listeners", (listener,))
    return calls
