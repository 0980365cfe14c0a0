"""The services of usage."""

from usage.services.budgets import change_budget, create_budget, delete_budget, delete_price, set_price
from usage.services.ledger import record_call, record_embeddings, record_model_test, remove_old_sent_requests
from usage.services.reservations import (
    build_error_of_cut_answer,
    delete_old_balances,
    list_expired_reservations,
    release_reservations,
    reserve,
    settle,
)

__all__ = [
    "build_error_of_cut_answer",
    "change_budget",
    "create_budget",
    "delete_budget",
    "delete_price",
    "set_price",
    "delete_old_balances",
    "remove_old_sent_requests",
    "list_expired_reservations",
    "record_call",
    "record_embeddings",
    "record_model_test",
    "release_reservations",
    "reserve",
    "settle",
]
