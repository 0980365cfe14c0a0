"""The listeners of usage (`config/hooks.py`)."""

from actors.models import Actor
from agents.specs.content import SpecContent
from chats.models import Chat
from usage.errors import PriceUnknown
from usage.rules import predict_model, read_rules
from usage.services.reservations import build_price_refusal


def check_price_is_known(actor: Actor, chat: Chat, agent: Actor, content: SpecContent) -> None:
    """Raise `PriceUnknown` if a budget refuses the model of a draft, because its price is not known: no message would be answered.
    A listener of `draft_applying`."""
    rules = read_rules(chat.workspace_id)
    if not rules["budgets"]:
        return
    model = predict_model(chat.workspace, agent, content.model, actor if actor.is_human else None, rules)
    if model is None:
        return
    for budget in model.budgets:
        if budget.refuses_model and (refusal := build_price_refusal(model, budget)):
            raise PriceUnknown(refusal)
