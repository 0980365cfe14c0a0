"""Who hears what, in order: the whole of what travels up the line of apps, on one page."""

LISTENERS: dict[str, list[str]] = {
    "actors.seams.renamed": ["chats.services.heard.show_new_name"],
    "workspaces.seams.member_left": [
        "chats.services.heard.leave_chats_of_workspace",
        "agents.services.leaving.end_grants_on_agents",
    ],
    "chats.seams.message_posted": ["agents.services.wake.wake_agents"],
    "agents.seams.draft_ended": ["agents.services.comparisons.close_comparisons"],
    "chats.seams.actor_left": ["agents.services.leaving.let_go"],
}
