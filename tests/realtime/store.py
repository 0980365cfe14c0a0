"""A client's store in its simplest form: the rule that every client follows, in forty lines."""

from typing import Any

Row = dict[str, Any]
ENDED = {"completed", "failed", "stopped"}
# What somebody types in a draft travels in transient frames, and is read back from the row: no version counts it.
TYPED = {"written", "revision", "lock_expires_at", "updated_by", "updated_at", "status"}


class Store:
    """Rows by kind and id; a row with a higher version replaces the one that is there."""

    def __init__(self) -> None:
        self.version = -1
        self.rows: dict[tuple[str, str], Row] = {}
        self.is_behind = False

    def take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "subscribed":
            if frame["snapshot"]:
                self.rows.clear()
            self._put(frame)
        elif frame["type"] == "changes":
            if frame["after"] > self.version:
                self.is_behind = True  # the hub will repair, or the client asks again
            else:
                self._put(frame)

    def _put(self, frame: dict[str, Any]) -> None:
        for row in frame["rows"]:
            known = self.rows.get((row["kind"], row["id"]))
            if known is None or known["version"] <= row["version"]:
                self.rows[row["kind"], row["id"]] = row
        self.version = max(self.version, frame["version"])
        self.is_behind = False

    def view(self, oldest_seq: int = 0) -> dict[tuple[str, str], Row]:
        """What a reader sees: what has ended is gone, and older messages than the newest page are not loaded yet."""
        return {key: _seen(row) for key, row in self.rows.items() if _is_seen(row, oldest_seq)}


def _is_seen(row: Row, oldest_seq: int) -> bool:
    if row["kind"] == "message":
        return bool(row["seq"] >= oldest_seq)
    if row["kind"] == "draft":
        return bool(row["status"] != "ended")
    return not (row["kind"] == "run" and row["state"] in ENDED)


def _seen(row: Row) -> Row:
    if row["kind"] == "draft":
        return {name: value for name, value in row.items() if name not in TYPED}
    if row["kind"] == "participant" and row["ended"]:
        # An agent that is renamed elsewhere does not change rooms that it has left; a newcomer reads its new name.
        return row | {"actor": row["actor"]["id"]}
    if row["kind"] == "chat":
        # In a snapshot it says the chat's version, in a frame the one of its last change.
        return {name: value for name, value in row.items() if name != "version"}
    return row


def oldest_seq(subscribed: dict[str, Any]) -> int:
    """The oldest message of a snapshot that is not the whole chat."""
    seqs = [row["seq"] for row in subscribed["rows"] if row["kind"] == "message"]
    return min(seqs) if seqs and subscribed["has_older"] else 0
