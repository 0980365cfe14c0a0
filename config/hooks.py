"""The listeners of every hook, in the order in which they are called."""

LISTENERS: dict[str, list[str]] = {
    "actors.hooks.renamed": ["chats.services.listeners.publish_profile"],
    "actors.hooks.invitation_read": ["chats.services.listeners.is_invitation"],
    "workspaces.hooks.member_demoted": ["chats.services.listeners.revoke_links_of_member"],
    "workspaces.hooks.member_left": [
        "chats.services.listeners.leave_chats_of_workspace",
        "agents.services.listeners.end_grants_on_agents",
    ],
    "workspaces.hooks.model_changed": ["notifications.services.listeners.model_changed"],
    "chats.hooks.message_posted": ["runs.services.wake.wake_agents", "notifications.services.listeners.mentions"],
    "chats.hooks.chats_read": ["notifications.services.listeners.chats_read"],
    "agents.hooks.draft_ended": [
        "runs.services.comparisons.close_comparisons",
        "suggestions.services.listeners.draft_ended",
    ],
    "runs.hooks.job_ended": ["suggestions.services.listeners.job_ended"],
    "agents.hooks.lock_lost": ["notifications.services.listeners.lock_lost"],
    "agents.hooks.draft_requested": ["notifications.services.listeners.draft_requested"],
    "agents.hooks.draft_handed_over": ["notifications.services.listeners.draft_handed_over"],
    "agents.hooks.draft_unlocked": ["notifications.services.listeners.draft_unlocked"],
    "suggestions.hooks.suggestion_changed": ["notifications.services.listeners.suggestion_changed"],
    "suggestions.hooks.merge_ended": ["notifications.services.listeners.merge_ended"],
    "chats.hooks.actor_left": [
        "agents.services.listeners.end_drafts_of_leaver",
        "runs.services.runs.stop_runs_of_leaver",
    ],
}
