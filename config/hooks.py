"""The listeners of every hook, in the order in which they are called."""

LISTENERS: dict[str, list[str]] = {
    "actors.hooks.profile_changed": ["chats.services.listeners.publish_profile"],
    "actors.hooks.invitation_presented": ["chats.services.listeners.check_invitation"],
    "workspaces.hooks.member_demoted": ["chats.services.listeners.revoke_links_of_member"],
    "workspaces.hooks.member_left": [
        "chats.services.listeners.leave_chats_of_workspace",
        "agents.services.listeners.end_grants_on_agents",
    ],
    "workspaces.hooks.model_changed": ["notifications.services.listeners.notify_model_changed"],
    "workspaces.hooks.time_zone_changed": ["usage.services.reservations.move_balances"],
    "workspaces.hooks.workspace_deleted": [
        "notifications.services.listeners.notify_workspace_deleted",
        "tools.services.servers.delete_servers_of_workspace",
        "agents.services.listeners.delete_agents_of_workspace",
        "runs.services.runs.stop_runs_of_workspace",
    ],
    # The order of deletion: rows before those that they refer to.
    "workspaces.hooks.workspace_purged": [
        "usage.services.ledger.delete_requests_of_workspace",
        "notifications.selectors.list_rows_of_workspace",
        "suggestions.selectors.list_rows_of_workspace",
        "runs.selectors.list_rows_of_workspace",
        "memory.selectors.list_rows_of_workspace",
        "context.selectors.list_rows_of_workspace",
        "files.selectors.list_rows_of_workspace",
        "chats.selectors.list_rows_of_workspace",
        "agents.services.listeners.list_rows_of_workspace",
        "tools.selectors.list_rows_of_workspace",
        "usage.selectors.list_rows_of_workspace",
    ],
    "tools.hooks.tools_changed": ["notifications.services.listeners.notify_tools_changed"],
    "chats.hooks.message_posted": [
        "runs.services.wake.wake_agents",
        "notifications.services.listeners.notify_mentioned_people",
    ],
    "chats.hooks.participants_added": ["notifications.services.listeners.notify_added_people"],
    "chats.hooks.chats_read": ["notifications.services.reading.mark_mentions_read"],
    "agents.hooks.draft_ended": [
        "runs.services.comparisons.close_comparisons",
        "suggestions.services.listeners.update_suggestions_of_draft",
    ],
    "approvals.hooks.approvals_asked": ["notifications.services.listeners.notify_approvals_asked"],
    "approvals.hooks.approvals_decided": [
        "runs.services.waiting.queue_decided_run",
        "notifications.services.reading.mark_approvals_read",
    ],
    "context.hooks.summary_requested": ["runs.services.runs.start_summary_job"],
    "runs.hooks.job_ended": [
        "context.services.listeners.finish_summary",
        "suggestions.services.listeners.finish_summary_or_merge",
    ],
    "agents.hooks.lock_lost": ["notifications.services.listeners.notify_lock_lost"],
    "agents.hooks.draft_requested": ["notifications.services.listeners.notify_draft_requested"],
    "agents.hooks.draft_handed_over": ["notifications.services.listeners.notify_draft_handed_over"],
    "agents.hooks.draft_unlocked": ["notifications.services.listeners.notify_draft_unlocked"],
    "agents.hooks.public_agent_renamed": ["publishing.services.publications.update_renamed_agent"],
    "suggestions.hooks.suggestion_changed": ["notifications.services.listeners.notify_suggestion_changed"],
    "publishing.hooks.agent_published": ["notifications.services.listeners.notify_agent_published"],
    "publishing.hooks.agent_taken_down": ["notifications.services.listeners.notify_agent_taken_down"],
    "suggestions.hooks.merge_ended": ["notifications.services.listeners.notify_merge_ended"],
    "usage.hooks.budget_warning": ["notifications.services.listeners.notify_budget_warning"],
    "chats.hooks.actor_left": [
        "agents.services.listeners.end_drafts_of_leaver",
        "runs.services.runs.stop_runs_of_leaver",
    ],
}
