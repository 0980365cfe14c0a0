"""An ear at a seam, in the place of those who listen there (config/hooks.py)."""

from typing import Any

import pytest

from common.hooks import Seam


def hear(monkeypatch: pytest.MonkeyPatch, seam: Seam[..., Any]) -> list[tuple[Any, ...]]:
    """What is told there from now on, each time as the arguments."""
    told: list[tuple[Any, ...]] = []

    def listener(*facts: Any) -> list[Any]:
        told.append(facts)
        return []

    monkeypatch.setattr(seam, "_listeners", (listener,))
    return told
