"""The services of agents: their versions and drafts."""
