// Written by `manage.py export_schema`.
import type { components } from './schema'

/** The spec whose fields all have their defaults. */
export const defaultSpec: components['schemas']['SpecContent'] = {
  "prompt": "",
  "model": "",
  "parameters": {
    "temperature": null,
    "top_p": null,
    "max_tokens": null
  },
  "limits": {
    "max_steps": 10,
    "max_seconds": 1800
  },
  "memory": "chat",
  "context": {
    "strategy": "default",
    "max_tokens": null
  },
  "team": {
    "members": [],
    "max_tasks": 10,
    "max_at_once": 3,
    "limit_dollars": null,
    "ask_above_dollars": null,
    "aggregation": ""
  },
  "tools": []
}
