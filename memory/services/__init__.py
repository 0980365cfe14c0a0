"""The services of the memory of agents."""

from memory.services.history import clear_history, delete_cleared, record_history_entry, undo_clearing
from memory.services.notes import (
    create_note,
    delete_forgotten_notes,
    edit_note,
    forget_note,
    forget_own_note,
    remember,
    restore_note,
)
from memory.services.use import use_memory

__all__ = [
    "use_memory",
    "clear_history",
    "create_note",
    "delete_cleared",
    "delete_forgotten_notes",
    "edit_note",
    "forget_note",
    "forget_own_note",
    "record_history_entry",
    "remember",
    "restore_note",
    "undo_clearing",
]
