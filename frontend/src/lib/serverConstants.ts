// Written by `manage.py export_schema`.

/** The names of public agents as tools. */
export const agentToolName = /^agent_[0-9a-f]{32}$/
