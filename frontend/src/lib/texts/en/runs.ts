/** The texts of runs that failed or were stopped, in English. */
const runs = {
  'run.timeout_first': "The model didn't start answering in time. Retry, or choose a faster model.",
  'run.timeout_idle': 'The model went silent in the middle of its answer. Retry.',
  'run.timeout_total': "The model didn't finish in time. Retry, or ask for less at once.",
  'run.cut': "The model's answer was cut off. Retry.",
  'run.garbled':
    "The model's server sent something unreadable. Retry; if it keeps happening, check the URL in {{settings}}.",
  'run.server': "The model's server had a problem. Retry in a moment.",
  'run.rate_limited': "The model's server is busy, or its quota is used up. Wait a little, then retry.",
  'run.refused': "The model's server refused the key. Check it in {{settings}}, then retry.",
  'run.bad_request':
    "The model's server rejected the request. Check the agent's model and parameters in the workshop, then retry.",
  'run.context_too_long':
    'The chat is too long for this model, even shortened. Choose a model that reads more, or start a new chat.',
  'run.no_tools': "This model calls no tools. Choose another model in {{settings}}, or turn the agent's tools off.",
  'run.not_listed': "The server answers, but doesn't list a model of this name. Check the name.",
  'run.not_found': "The model's server doesn't know this model. Check its ID in {{settings}}, then retry.",
  'run.unreachable': "The model's server can't be reached. Retry in a moment, or check its URL in {{settings}}.",
  'run.host_refused': "Calls to the model's server aren't allowed from here. An operator can allow it.",
  'run.budget_used_up': 'Too little is left of its budget.',
  'run.price_unknown':
    "No price is known for its model. An editor can set one beside the budgets, or an operator if the operator's key pays.",
  'run.step_limit': 'It reached its step limit. Raise it in the workshop under Limits, or ask for less at once.',
  'run.time_limit': 'It reached its time limit. Raise it in the workshop under Limits, or ask for less at once.',
  'run.malformed_calls': "The model's tool calls couldn't be understood. Retry, or choose another model.",
  'run.tools_broken': 'Its tools failed three times. Retry, or turn the tool off in the workshop.',
  'run.empty_answer': 'The model gave an empty answer. Retry, or say more clearly what you want.',
  'run.answer_invalid': 'Its answer does not follow the schema of the task, also after it was asked again.',
  'run.crash_loop':
    'The run was interrupted three times, so it was ended. Retry; if it happens again, tell an operator.',
  'run.internal': 'Something went wrong on our side. Retry; if it happens again, tell an operator.',
  'run.agent_taken_down': 'This public agent was taken down. Choose another one.',
  'run.no_tasks': "This agent doesn't accept tasks of other agents any more.",
  'run.rights_lost': 'The agent, or the person it worked for, is no longer in this chat. Add them again, then retry.',
  'run.no_version': 'The agent has no saved version. Save one in the workshop, then retry.',
  'run.forbidden': "The agent can't answer here any more. Add it to the chat again, then retry.",
  'run.llm_profile_failed':
    "{{name}}'s own model didn't answer, and nobody else's key is used instead. {{name}} can look in Settings → Your model.",
  'run.llm_profile_withdrawn':
    "{{name}}'s own model was changed or deleted, or is no longer allowed, so the run ended. Retry.",
  'run.failed': 'The answer failed. Retry.',
  stoppedBy: 'Stopped by {{name}}',
  'budget.whose': ' ({{name}})',
  'budget.stopped.day': "Stopped by today's budget{{whose}}.",
  'budget.stopped.month': "Stopped by this month's budget{{whose}}.",
  'budget.stopped.run': 'Stopped by the budget of this run{{whose}}.',
  'budget.needed': 'The next call could cost up to {{needed}}.',
  'budget.needed.day': 'The next call could cost up to {{needed}}; left today: {{left}} of {{limit}}.',
  'budget.needed.month': 'The next call could cost up to {{needed}}; left this month: {{left}} of {{limit}}.',
  'budget.needed.run': 'The next call could cost up to {{needed}}; left for this run: {{left}} of {{limit}}.',
  'budget.kept': 'What was written is kept.',
  'budget.beginsAgain': 'The budget resets on {{time}}.',
  'run.askEditors': 'Editors can change this: {{names}}.',
} as const

export default runs
