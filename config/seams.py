"""Who hears what, in order: the whole of what travels up the line of apps, on one page."""

LISTENERS: dict[str, list[str]] = {
    "actors.seams.renamed": ["chats.services.heard.show_new_name"],
    "workspaces.seams.member_left": [
        "chats.services.heard.leave_chats_of_workspace",
        "agents.services.leaving.end_grants_on_agents",
    ],
    "chats.seams.message_posted": ["agents.services.wake.wake_agents", "notifications.services.heard.mentions"],
    "chats.seams.chat_read": ["notifications.services.heard.chat_read"],
    "agents.seams.draft_ended": [
        "agents.services.comparisons.close_comparisons",
        "suggestions.services.heard.draft_ended",
    ],
    "agents.seams.job_ended": ["suggestions.services.heard.job_ended"],
    "agents.seams.lock_lost": ["notifications.services.heard.lock_lost"],
    "agents.seams.draft_asked": ["notifications.services.heard.draft_asked"],
    "agents.seams.draft_free": ["notifications.services.heard.draft_free"],
    "suggestions.seams.suggestion_changed": ["notifications.services.heard.suggestion_changed"],
    "suggestions.seams.merge_ended": ["notifications.services.heard.merge_ended"],
    "chats.seams.actor_left": ["agents.services.leaving.let_go"],
}
