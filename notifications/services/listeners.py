"""Listeners that notify people of events in other apps. `config/hooks.py` connects them to the hooks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from actors.models import Actor, Kind
from agents.models import AgentSpec, Draft, LockWaiter
from agents.permissions import AgentVerb, list_people_who_may
from approvals.models import Approval
from approvals.selectors import list_asked_people
from boards.models import Board
from boards.selectors import list_boards_of_message
from chats.hooks import MessageChange
from chats.mentions import replace_mentions
from chats.models import Chat, ChatActor, Message
from chats.services import restore_archived_chats
from common.clock import now
from common.ids import new_id
from common.providers import get_provider
from embeddings.models import EmbeddingModel
from events.publish import publish_list_changed
from events.rows import BoardPause, MergeMethod, MergeState, NotificationKind, Role
from notifications.models import Notification
from notifications.services.notifying import notify, notify_in_workspaces
from publishing.models import Listing
from runs.models import Run
from schedules.models import Schedule
from schedules.selectors import find_schedule_of_run
from suggestions.hooks import SuggestionChange
from suggestions.models import Merge, Suggestion
from tools.models import WorkspaceTool
from usage.models import Balance
from workspaces.models import Credential, Membership, Workspace
from workspaces.permissions import select_former_editors

KINDS_ABOUT_BOARDS = (NotificationKind.BOARD_ENDED, NotificationKind.BOARD_PAUSED, NotificationKind.BOARD_WAITS)
MAX_EXCERPT_CHARACTERS = Notification._meta.get_field("excerpt").max_length or 0


def notify_mentioned_people(chat: Chat, message: Message) -> None:
    """Notify the people whom a message mentions, and take the chat out of their archives. A message without mentions makes no
    query."""
    _notify_mentioned(chat, message, message.payload.get("mentions", []))


def update_mentions_of_message(change: MessageChange) -> None:
    """Delete the notifications about a deleted message, and those of people whom its edited text no longer mentions. The others
    quote the present text, and people whom it mentions now are notified. A listener of `message_changed`."""
    message, mentions = change.message, change.message.payload.get("mentions", [])
    stored = Notification.objects.filter(message_id=message.id, type=NotificationKind.MENTION)
    gone = stored.exclude(person__in=mentions)
    people = set(stored.values_list("person_id", flat=True))
    gone.delete()
    if mentions:
        stored.update(excerpt=_build_mention_excerpt(message, mentions))
        _notify_mentioned(change.chat, message, change.added_mentions)
    if people:
        publish_list_changed(people, "notifications")


def _build_mention_excerpt(message: Message, mentioned: Sequence[UUID]) -> str:
    names = dict(Actor.objects.filter(pk__in=mentioned).values_list("handle", "name"))
    beginning = message.text[: MAX_EXCERPT_CHARACTERS * 4]
    return _build_excerpt(replace_mentions(beginning, lambda mention: f"@{names.get(mention.handle, mention.handle)}"))


def _notify_mentioned(chat: Chat, message: Message, mentioned: Sequence[UUID]) -> None:
    if message.author is None or not mentioned:
        return
    people = ChatActor.objects.filter(chat=chat, ended_at=None, actor__kind=Kind.HUMAN, actor__in=mentioned)
    restore_archived_chats(chat.id, mentioned)
    notify(
        people.values_list("actor_id", flat=True),
        event=_build_event_key("mention", message.id),
        type="mention",
        workspace_id=chat.workspace_id,
        actor=message.author,
        chat_id=chat.id,
        message_id=message.id,
        excerpt=_build_mention_excerpt(message, message.payload.get("mentions", [])),
    )


def notify_added_people(chat: Chat, actors: Sequence[Actor], added_by: Actor) -> None:
    """Notify the people whom another actor has added to a chat. Agents are neither notified nor woken."""
    people = [actor.id for actor in actors if actor.is_human and actor.id != added_by.id]
    if people:
        notify(
            people,
            event=_build_event_key("chat_invitation", chat.id, chat.version),
            type="chat_invitation",
            workspace_id=chat.workspace_id,
            actor=added_by,
            chat_id=chat.id,
            excerpt=_build_excerpt(chat.title),
        )


def notify_suggestion_changed(suggestion: Suggestion, what: SuggestionChange, actor: Actor) -> None:
    """Notify the reviewers of the agent of a new suggestion. Notify its author of any other change."""
    people: Iterable[UUID] = [suggestion.author_id]
    if what == "created":
        people = list_people_who_may(suggestion.agent, AgentVerb.REVIEW).values_list("pk", flat=True)
    notify(
        people,
        event=_build_event_key(what, suggestion.id, suggestion.merge_id),
        type=f"suggestion_{what}",
        workspace_id=suggestion.workspace_id,
        actor=actor,
        agent_name=suggestion.agent.name,
        chat_id=suggestion.chat_id,
        agent_id=suggestion.agent_id,
        suggestion_id=suggestion.id,
        merge_id=suggestion.merge_id,
        excerpt=_build_excerpt(suggestion.reason if what == "rejected" else suggestion.note),
    )


def notify_merge_ended(merge: Merge) -> None:
    """Notify the person who requested a merge that it is done or has failed.

    Nobody is notified of a merge that copied its only suggestion: it ends within the request.
    """
    if merge.method == MergeMethod.COPIED or merge.state not in (MergeState.DONE, MergeState.FAILED):
        return
    notify(
        [merge.by_id],
        event=_build_event_key(merge.state, merge.id, merge.ended_at and merge.ended_at.timestamp()),
        type=f"merge_{merge.state}",
        workspace_id=merge.workspace_id,
        actor=None,
        agent_name=merge.agent.name,
        chat_id=merge.chat_id,
        agent_id=merge.agent_id,
        merge_id=merge.id,
        excerpt=merge.error_code,
    )


def notify_webhook_disabled(agent: Actor, host: str) -> None:
    """Notify the editors that a webhook of an agent is off, because its deliveries have failed for days."""
    editors = Membership.objects.filter(workspace=agent.workspace_id, role=Role.EDITOR)
    if agent.workspace_id is not None:
        notify(
            editors.values_list("actor_id", flat=True),
            event=_build_event_key("webhook_disabled", new_id()),  # each time is an event of its own
            type="webhook_disabled",
            workspace_id=agent.workspace_id,
            actor=None,
            agent_name=agent.name,
            agent_id=agent.id,
            excerpt=_build_excerpt(host),
        )


def notify_schedule_paused(schedule: Schedule, actor: Actor | None) -> None:
    """Notify the owner of a schedule, and the editors in its chat, that it is paused."""
    _notify_about_schedule(
        schedule, event=_build_event_key("schedule_paused", new_id()), type="schedule_paused", actor=actor
    )


def notify_schedule_failed(schedule: Schedule) -> None:
    """Notify the owner of a schedule, and the editors in its chat, once a day that it could not be fired, or that its run has
    failed."""
    event = _build_event_key("schedule_failed", schedule.id, now().date())
    _notify_about_schedule(schedule, event=event, type="schedule_failed", actor=None)


def _notify_about_schedule(schedule: Schedule, *, event: str, type: str, actor: Actor | None) -> None:
    present = ChatActor.objects.filter(chat=schedule.chat_id, ended_at=None).values("actor")
    editors = Membership.objects.filter(workspace=schedule.workspace_id, role=Role.EDITOR, actor__in=present)
    notify(
        [schedule.owner_id, *editors.values_list("actor_id", flat=True)],
        event=event,
        type=type,
        workspace_id=schedule.workspace_id,
        actor=actor,
        agent_name=schedule.agent.name,
        chat_id=schedule.chat_id,
        agent_id=schedule.agent_id,
        excerpt=_build_excerpt(schedule.name),
    )


def notify_board_ended(board: Board, message: Message, actor: Actor | None) -> None:
    """Notify the person whom a board works for, and the one who has started it, that it has ended."""
    event = _build_event_key("board_ended", board.id)
    _notify_about_board(board, message, event=event, type="board_ended", actor=actor)
    # Also to the one who has ended it, who is not notified: a board that was paused waits for them no more.
    publish_board_resumed(board)


def publish_board_resumed(board: Board) -> None:
    """Let the people of a board read again what waits for them."""
    publish_list_changed(_list_people_of_board(board), "notifications")


def notify_board_paused(board: Board, message: Message, actor: Actor | None) -> None:
    """Notify the same people each time that a board is paused, or that it waits to be started because of its estimate."""
    type = "board_waits" if board.pause_reason == BoardPause.ESTIMATE else "board_paused"
    event = _build_event_key("board_paused", message.id)
    _notify_about_board(board, message, event=event, type=type, actor=actor)


def _list_people_of_board(board: Board) -> list[UUID]:
    return sorted({id for id in (board.on_behalf_of_id, board.started_by_id) if id is not None})


def _notify_about_board(board: Board, message: Message, *, event: str, type: str, actor: Actor | None) -> None:
    notify(
        _list_people_of_board(board),
        event=event,
        type=type,
        workspace_id=board.workspace_id,
        actor=actor,
        chat_id=board.chat_id,
        message_id=message.id,
        excerpt=_build_excerpt(board.user_input),
    )


def remove_excerpts_of_boards(change: MessageChange) -> None:
    """Empty the excerpts of the notifications about boards that were made for a deleted message. A listener of
    `message_changed`."""
    boards = list_boards_of_message(change.chat.id, change.message.id) if change.is_deleted else []
    if not boards:
        return
    lines = Message.objects.filter(chat=change.chat, payload__board_id__in=[str(board.pk) for board in boards])
    about = Notification.objects.filter(chat_id=change.chat.id, type__in=KINDS_ABOUT_BOARDS)
    about = about.filter(message_id__in=list(lines.values_list("pk", flat=True)))
    people = set(about.values_list("person_id", flat=True))
    about.update(excerpt="")
    if people:
        publish_list_changed(people, "notifications")


def notify_run_failed(run: Run, message: Message) -> None:
    """Notify the person whom a run works for that it has failed, once a day for each agent and chat. Of the run of a schedule,
    those are notified who are notified of the schedule."""
    if schedule := find_schedule_of_run(run):
        notify_schedule_failed(schedule)
    elif run.on_behalf_of_id is not None:
        notify(
            [run.on_behalf_of_id],
            # The day by its number: the key has at most 80 characters.
            event=_build_event_key("failed", run.get_chat_id(), run.agent_id, now().date().toordinal()),
            type="run_failed",
            workspace_id=run.workspace_id,
            actor=None,
            agent_name=run.agent.name,
            chat_id=run.chat_id,
            agent_id=run.agent_id,
            message_id=message.id,
            excerpt=run.error_code,
        )


def notify_model_changed(credential: Credential | EmbeddingModel, actor: Actor) -> None:
    """Notify all members that what their agents read is sent to another provider or host from now on."""
    members = Membership.objects.filter(workspace=credential.workspace_id).values_list("actor_id", flat=True)
    options = get_provider(credential.provider).list_host_options(credential.options)
    host = urlsplit(credential.api_base).netloc or " · ".join([credential.get_provider_display(), *options])
    notify(
        members,
        event=_build_event_key("model_changed", credential.id, credential.revision),
        type="model_changed",
        workspace_id=credential.workspace_id,
        actor=actor,
        excerpt=_build_excerpt(host),
    )


def notify_agent_published(listing: Listing, version: AgentSpec, people: Mapping[UUID, set[UUID]]) -> None:
    """Notify people of a publication or a new version of a public agent. Only people of the publisher read who published it."""
    event = _build_event_key("agent_published", listing.agent_id, version.version)
    excerpt = f"v{version.version}"
    _notify_about_public_agent(
        listing, people, event=event, type="agent_published", actor=version.author, excerpt=excerpt
    )


def notify_agent_taken_down(listing: Listing, people: Mapping[UUID, set[UUID]]) -> None:
    """Notify people of the takedown of a public agent. Only people of the publisher read who took it down; an operator is
    never named."""
    event, excerpt = _build_event_key("agent_taken_down", listing.agent_id), _build_excerpt(listing.takedown_reason)
    _notify_about_public_agent(
        listing,
        people,
        event=event,
        type="agent_taken_down",
        actor=listing.taken_down_by,
        excerpt=excerpt,
        is_actor_named=not listing.taken_down_by_operator,
    )


def _notify_about_public_agent(
    listing: Listing,
    people: Mapping[UUID, set[UUID]],
    *,
    actor: Actor | None,
    is_actor_named: bool = True,
    **fields: Any,
) -> None:
    agent = listing.agent
    notify_in_workspaces(
        people,
        actor=actor,
        actor_named_in=agent.published_by_workspace_id if is_actor_named else None,
        agent_name=agent.name,
        agent_id=agent.id,
        **fields,
    )


def notify_grant_changed(grant: Any, operator: Actor, kind: NotificationKind) -> None:
    """Notify a person that an operator has granted them a right on an agent, a chat or a workspace, or has revoked it. The excerpt
    is the name of the right in code, which clients translate."""
    target = grant.content_object
    notify(
        [grant.user_id],
        event=_build_event_key(kind, type(grant).__name__, grant.pk),
        type=kind,
        workspace_id=target.pk if isinstance(target, Workspace) else target.workspace_id,
        actor=operator,
        agent_name=target.name if isinstance(target, Actor) else "",
        agent_id=target.pk if isinstance(target, Actor) else None,
        chat_id=target.pk if isinstance(target, Chat) else None,
        excerpt=grant.permission.codename,
    )


def notify_workspace_deleted(workspace: Workspace, actor: Actor) -> None:
    """Notify the other members that their workspace was deleted, and the former members who may undo it. An operator who is not a
    member is not named."""
    members = Membership.objects.filter(workspace=workspace).values_list("actor_id", flat=True)
    former = select_former_editors(workspace.past_memberships.all()).values_list("actor_id", flat=True)
    notify(
        members,
        former_members=former,
        event=_build_event_key(
            "workspace_deleted", workspace.id, workspace.deleted_at and workspace.deleted_at.timestamp()
        ),
        type="workspace_deleted",
        workspace_id=workspace.id,
        actor=actor if actor.pk in members else None,
        excerpt=_build_excerpt(workspace.name),
    )


def remove_deletion_notices(workspace: Workspace, actor: Actor) -> None:
    """Delete the notifications that a workspace was deleted, because it exists again."""
    notices = Notification.objects.filter(workspace=workspace, type=NotificationKind.WORKSPACE_DELETED)
    people = list(notices.values_list("person_id", flat=True))
    notices.delete()
    publish_list_changed(people, "notifications")


def notify_budget_warning(balance: Balance) -> None:
    """Notify the editors that most of a budget is used, and the person whose budget it is."""
    budget = balance.budget
    editors = Membership.objects.filter(workspace=budget.workspace_id, role=Role.EDITOR)
    # The subject is a workspace, a person, an agent or a tree. Of these ids, `notify` keeps those of people.
    people = {*editors.values_list("actor_id", flat=True), balance.subject_id}
    names = [*Actor.objects.filter(pk=balance.subject_id).values_list("name", flat=True)]
    spent, limit = (
        f"${amount / 1_000_000:.2f}" if budget.limit_tokens is None else f"{amount:,}"
        for amount in (balance.spent, budget.limit)
    )
    unit = "" if budget.limit_tokens is None else " tokens"
    notify(
        people,
        event=_build_event_key("budget_warning", balance.id, budget.revision),
        type="budget_warning",
        workspace_id=budget.workspace_id,
        actor=None,
        excerpt=_build_excerpt(" · ".join([*names, f"{spent} / {limit}{unit}"])),
    )


def notify_tools_changed(tools: Sequence[WorkspaceTool]) -> None:
    """Notify the editors that tools of an MCP server are off until an editor approves their new descriptions."""
    first = tools[0]
    editors = Membership.objects.filter(workspace=first.workspace_id, role=Role.EDITOR)
    notify(
        editors.values_list("actor_id", flat=True),
        event=_build_event_key("tools_changed", first.id, first.revision),
        type="tools_changed",
        workspace_id=first.workspace_id,
        actor=None,
        tool_server_id=first.server_id,
        excerpt=_build_excerpt(", ".join(tool.name for tool in tools)),
    )


def notify_approvals_asked(approvals: Sequence[Approval]) -> None:
    """Notify the people who are asked that a run waits for their decision. One notification for all calls of an answer."""
    first = approvals[0]
    text = first.question["text"] if first.question else first.tool
    notify(
        list_asked_people(first),
        event=_build_event_key("approval_asked", first.id),
        type="approval_asked",
        workspace_id=first.chat.workspace_id,
        actor=None,
        agent_name=first.agent.name,
        chat_id=first.chat_id,
        agent_id=first.agent_id,
        message_id=first.id,
        excerpt=_build_excerpt(text),
    )


def notify_lock_lost(draft: Draft, holder: Actor, actor: Actor) -> None:
    """Notify the former holder of a draft's lock that the actor took the lock from them."""
    event = _build_event_key("lock_lost", draft.id, draft.revision)
    _notify_about_draft([holder.id], draft, event=event, type="lock_lost", actor=actor)


def notify_draft_requested(waiter: LockWaiter) -> None:
    """Notify the holder of a draft's lock that a person requests the draft."""
    draft = waiter.draft
    if draft.lock_holder_id and waiter.requested_at:
        event = _build_event_key("draft_requested", waiter.id, waiter.requested_at.timestamp())
        _notify_about_draft([draft.lock_holder_id], draft, event=event, type="draft_requested", actor=waiter.person)


def notify_draft_handed_over(draft: Draft, former_holder: Actor) -> None:
    """Notify the new holder of a draft's lock that the former holder handed the draft over."""
    if draft.lock_holder_id:
        event = _build_event_key("draft_handed_over", draft.id, draft.revision)
        _notify_about_draft([draft.lock_holder_id], draft, event=event, type="draft_handed_over", actor=former_holder)


def notify_draft_unlocked(draft: Draft, actor: Actor | None, waiter_ids: list[UUID]) -> None:
    """Notify the people who waited for a draft that its lock is free. `actor` is null if the lock expired."""
    event = _build_event_key("draft_unlocked", draft.id, draft.revision)
    _notify_about_draft(waiter_ids, draft, event=event, type="draft_unlocked", actor=actor)


def _notify_about_draft(people: list[UUID], draft: Draft, *, event: str, type: str, actor: Actor | None) -> None:
    """Notify people with a link to the workshop of the draft's agent in the draft's chat."""
    notify(
        people,
        event=event,
        type=type,
        workspace_id=draft.chat.workspace_id,
        actor=actor,
        agent_name=draft.agent.name,
        chat_id=draft.chat_id,
        agent_id=draft.agent_id,
    )


def _build_event_key(what: str, *which: object) -> str:
    """Build the `event` of a notification. The same event must get the same key, so that a person is notified of it once."""
    return ":".join([what, *(one.hex if isinstance(one, UUID) else str(one) for one in which)])


def _build_excerpt(text: str) -> str:
    """Return the beginning of a text as one line of at most `MAX_EXCERPT_CHARACTERS`."""
    line = " ".join(text[: MAX_EXCERPT_CHARACTERS * 4].split())
    return line if len(line) <= MAX_EXCERPT_CHARACTERS else f"{line[: MAX_EXCERPT_CHARACTERS - 1]}…"
