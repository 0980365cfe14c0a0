"""The services of agents: their versions, drafts and files."""
