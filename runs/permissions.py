"""Rights to a run, which are those to its chat."""

from collections.abc import Sequence
from uuid import UUID

from actors.models import Actor, AgentStatus
from chats.models import Chat
from chats.permissions import ChatVerb, find_readers, get_chat_for
from common.access import replace_not_found
from common.errors import Forbidden, NotFound
from runs.errors import RunNotAllowed
from runs.models import Run
from runs.prepared_queries import ACTORS
from workspaces.models import Membership

AGENT_TAKEN_DOWN = ("agent_taken_down", "The agent was taken down.")
"""The code and the text of a run whose public agent was taken down."""
NO_TASKS = ("no_tasks", "This agent does not accept tasks of other agents any more.")
"""The code and the text of a sub-agent's run whose agent no longer accepts tasks."""


def get_run_for(actor: Actor, run_id: UUID, verb: ChatVerb, *, own: ChatVerb | None = None, lock: bool = False) -> Run:
    """Return the run if the actor may do this in its chat; `lock`: lock the chat. Raises `NotFound`, `Forbidden`. `own`: the verb
    that is enough for a run that works for the actor or was triggered by them."""
    with replace_not_found("run"):
        run = Run.objects.select_related("chat", "agent").filter(pk=run_id, chat__isnull=False).first()
        if run is None or run.chat_id is None:
            raise NotFound("There is no such run.")
        needed = own if own and is_own_run(actor, run) else verb
        get_chat_for(actor, run.chat_id, needed, lock=lock)
    return run


def is_own_run(actor: Actor, run: Run) -> bool:
    """Return whether a run works for the actor or was triggered by them."""
    return actor.id in (run.on_behalf_of_id, run.triggered_by_id)


def lock_chat_of_run(run: Run) -> Chat:
    """Lock the chat of a run and return it. Raises `RunNotAllowed` unless its agent and its person may post there now. It is
    called at the claim and at each step, so that a public agent that was taken down stops."""
    return get_chat_of_run(run, lock=True)


def get_chat_of_run(run: Run, *, lock: bool = False) -> Chat:
    """Return the chat of a run, as `lock_chat_of_run` does."""
    try:
        return get_chat_for(run.agent, run.get_chat_id(), ChatVerb.POST, on_behalf_of=run.on_behalf_of, lock=lock)
    except (NotFound, Forbidden) as error:
        if chat := _find_chat_between_agents(run, lock=lock):
            return chat
        raise _build_obstacle([run]) from error


def lock_chat_of_tasks(runs: Sequence[Run]) -> Chat:
    """Lock the chat of runs of one tree that do tasks, as `lock_chat_of_run` does. Raises `RunNotAllowed` if one is not allowed.

    Their agents need not be in the chat. Whoever has given the first task of the tree must be: the first agent of the path, or a
    person. No agent of the paths may be deleted, suspended or taken down, and those that do the tasks must accept tasks.
    """
    first = runs[0]
    try:
        ids = {id for run in runs for id in run.path}
        agents = {actor.id: actor for actor in ACTORS.all(list(ids))}
        if any(agents[id].status != AgentStatus.READY or agents[id].taken_down_at is not None for id in ids):
            raise NotFound("An agent of the path is gone.")
        if not all(agents[run.agent_id].accepts_tasks for run in runs):
            raise RunNotAllowed(*NO_TASKS)
        giver = agents[first.path[0]]
        on_behalf_of = first.on_behalf_of if giver.is_agent else None
        return get_chat_for(giver, first.get_chat_id(), ChatVerb.POST, on_behalf_of=on_behalf_of, lock=True)
    except (NotFound, Forbidden) as error:
        raise _build_obstacle(runs) from error


def _build_obstacle(runs: Sequence[Run]) -> RunNotAllowed:
    """Return why one of these runs may not continue."""
    if Actor.objects.filter(pk__in=[run.agent_id for run in runs], taken_down_at__isnull=False).exists():
        return RunNotAllowed(*AGENT_TAKEN_DOWN)
    text = "The agent, or the person it worked for, has no place in this chat any more."
    return RunNotAllowed("rights_lost", text)


def is_reader_of_chat(run: Run, chat: Chat | None) -> bool:
    """Return whether the person of a run reads this chat, from which its model is sent texts."""
    return chat is not None and run.on_behalf_of_id is not None and run.on_behalf_of_id in find_readers([chat])[chat.pk]


def _find_chat_between_agents(run: Run, *, lock: bool) -> Chat | None:
    """Return the chat of a run, locked with `lock`, if it is between two agents (so the run's person is not in it), the agent may
    post there, and the person is still a member of the workspace. Else return null."""
    members = Membership.objects.filter(actor=run.on_behalf_of_id, actor__is_active=True, workspace=run.workspace_id)
    if not Chat.objects.filter(pk=run.get_chat_id(), is_between_agents=True).exists() or not members.exists():
        return None
    try:
        return get_chat_for(run.agent, run.get_chat_id(), ChatVerb.POST, lock=lock)
    except (NotFound, Forbidden):
        return None
