"""The writes of agents: versions, drafts, runs."""
