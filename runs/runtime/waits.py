"""What a run waits for besides people: each kind of `Wait` has an object that starts it and knows its results.

A call of a tool with a `wait_kind` has no result at once. The run stops (`waiting_child`), and goes on from its stored rows as
after a crash: then the call has a result, or waits again."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from chats.services import RowChange
from common.writing import RowUpdate
from llm.messages import ToolCall
from runs.models import Run
from runs.runtime.steps import ToolResult, WaitingCall
from tools.interface import Wait

W = TypeVar("W", bound=Wait)


class WaitKind(ABC, Generic[W]):
    """One kind of `Wait`. An app registers it when it is ready."""

    name: ClassVar[str]
    """`Wait.kind`."""

    @abstractmethod
    def find_refusal(self, run: Run, wait: W, others: Sequence[W]) -> str:
        """Return why a call of the run may not wait for this, for the model; empty if it may. `others`: what earlier calls of the
        same answer wait for."""

    @abstractmethod
    def start(self, update: RowUpdate[Run], calls: Sequence[WaitingCall]) -> list[RowChange]:
        """Start what these calls wait for, unless that was done before. Set the run to `waiting_child` without a lease or, if
        nothing is left to wait for, to `queued`. Return the changes besides that of the run. Its chat is locked."""

    @abstractmethod
    def find_results(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        """Return the results of those of these open calls, by their ids, for which this kind has something that has ended."""

    def find_refused(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        """Return the results of those of these open calls of this kind for which nothing can be started; none by default."""
        return {}


_kinds: dict[str, WaitKind[Any]] = {}


def register_wait_kind(kind: WaitKind[Any]) -> None:
    """Register a kind of wait. Raises `ValueError` if another one has its name."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"There are two kinds of waits with the name {kind.name!r}.")


def find_wait_refusal(run: Run, wait: Wait, others: Sequence[Wait]) -> str:
    """Return why a call of the run may not wait for this, for the model; empty if it may. See `WaitKind.find_refusal`."""
    return _kinds[wait.kind].find_refusal(run, wait, others)


def start_waits(update: RowUpdate[Run], calls: Sequence[WaitingCall]) -> list[RowChange]:
    """Start what these calls wait for, which is of one kind, and set the run to wait. See `WaitKind.start`."""
    return _kinds[calls[0].wait.kind].start(update, calls)


def find_wait_results(
    run: Run, calls: Sequence[ToolCall], known: Collection[str], kinds_by_tool: dict[str, str]
) -> dict[str, ToolResult]:
    """Return the results of those of these open calls whose wait has ended or cannot start. `known`: the calls that have other
    results; `kinds_by_tool`: the `wait_kind` of each tool."""
    results: dict[str, ToolResult] = {}
    for kind in _kinds.values():
        results |= kind.find_results(run, calls)
        unknown = [call for call in calls if call.id not in known and call.id not in results]
        results |= kind.find_refused(run, [call for call in unknown if kinds_by_tool.get(call.name) == kind.name])
    return results
