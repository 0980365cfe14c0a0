"""The simplest store of a client, with the rules that every client follows."""

from typing import Any

Row = dict[str, Any]
ENDED = {"completed", "failed", "stopped"}
# Fields of a draft that transient frames update without a new version.
TRANSIENT_FIELDS = {"written", "revision", "lock_expires_at", "updated_by", "updated_at", "status"}


class Store:
    """Rows by kind and id. A row with a higher version replaces the stored one."""

    def __init__(self) -> None:
        self.version = -1
        self.rows: dict[tuple[str, str], Row] = {}
        self.is_behind = False

    def apply(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "subscribed":
            if frame["snapshot"]:
                self.rows.clear()
            self._put(frame)
        elif frame["type"] == "changes":
            if frame["after"] > self.version:
                self.is_behind = True  # until the hub repairs it, or the client subscribes again
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
        """Return the rows that a client shows: without ended rows and without messages before `oldest_seq`."""
        boards = {row["id"] for row in self.rows.values() if row["kind"] == "board" and row["ended_at"] is None}
        return {
            key: _normalize_row(row)
            for key, row in self.rows.items()
            if _is_visible(row, oldest_seq) and (row["kind"] != "board_task" or row["board_id"] in boards)
        }


def _is_visible(row: Row, oldest_seq: int) -> bool:
    if row["kind"] == "message":
        return bool(row["seq"] >= oldest_seq)
    if row["kind"] == "draft":
        return bool(row["status"] != "ended")
    if row["kind"] == "board":
        return row["ended_at"] is None
    return not (row["kind"] == "run" and row["state"] in ENDED)


def _normalize_row(row: Row) -> Row:
    if row["kind"] == "draft":
        return {name: value for name, value in row.items() if name not in TRANSIENT_FIELDS}
    if row["kind"] == "participant" and row["ended"]:
        # Renaming an agent does not change chats that it has left, but a snapshot has its new name.
        return row | {"actor": row["actor"]["id"]}
    if row["kind"] == "chat":
        # A snapshot has the version of the chat, a frame the version of the last change of this row.
        return {name: value for name, value in row.items() if name != "version"}
    return row


def get_oldest_seq(subscribed: dict[str, Any]) -> int:
    """Return the `seq` of the oldest message of a snapshot, or 0 if the snapshot has the whole chat."""
    seqs = [row["seq"] for row in subscribed["rows"] if row["kind"] == "message"]
    return min(seqs) if seqs and subscribed["has_older"] else 0
