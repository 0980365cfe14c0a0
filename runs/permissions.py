"""Who may do what with a run: whoever may do it in the chat in which the agent works."""

from uuid import UUID

from actors.models import Actor
from chats.models import Chat
from chats.permissions import ChatVerb, get_chat_for
from common.access import seen_through
from common.errors import Forbidden, NotFound
from runs.errors import RunNotAllowed
from runs.models import Run


def get_run_for(actor: Actor, run_id: UUID, verb: ChatVerb, *, own: ChatVerb | None = None, lock: bool = False) -> Run:
    """The run, through the chat it works in: whoever may do this there. Raises `NotFound`, `Forbidden`.

    `own` is what is needed instead for a run that works for the actor, or that the actor set off. `lock` holds its chat.
    """
    with seen_through("run"):
        run = Run.objects.select_related("chat", "agent").filter(pk=run_id, chat__isnull=False).first()
        if run is None or run.chat_id is None:
            raise NotFound("There is no such run.")
        needed = own if own and actor.id in (run.on_behalf_of_id, run.triggered_by_id) else verb
        get_chat_for(actor, run.chat_id, needed, lock=lock)
    return run


def lock_chat_of_run(run: Run) -> Chat:
    """The chat that a run works in, held until the transaction ends. Rights are asked with it, whenever a run begins and at
    each of its steps, never frozen at the time it was asked for. Raises `RunNotAllowed`."""
    try:
        return get_chat_for(run.agent, run.get_chat_id(), ChatVerb.POST, on_behalf_of=run.on_behalf_of, lock=True)
    except (NotFound, Forbidden) as error:
        text = "The agent, or the person it worked for, has no place in this chat any more."
        raise RunNotAllowed("rights_lost", text) from error
