"""The kinds of runs: each is an object with the operations of its runs, registered by its name, which `Run.kind` stores.

An app registers its kinds when it is ready (`AppConfig.ready`). Those of this app are in `runs/apps.py`.
"""

from typing import TYPE_CHECKING

from runs.models import KIND_LABELS, Run

if TYPE_CHECKING:
    from runs.kinds.base import RunKind

_kinds: "dict[str, RunKind]" = {}


def register_kind(kind: "RunKind") -> None:
    """Register a kind of run. Raises `ValueError` if another kind has its name."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"There are two kinds of runs with the name {kind.name!r}.")
    KIND_LABELS[kind.name] = kind.label


def get_kind(run: Run) -> "RunKind":
    """Return the operations of this run's kind. Raises `LookupError` if no app has registered it."""
    try:
        return _kinds[run.kind]
    except KeyError:
        raise LookupError(f"Run {run.pk} has the kind {run.kind!r}, which no app has registered.") from None
