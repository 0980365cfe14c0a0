/** The texts about who pays for a model, and about the own models of people, in English. */
const models = {
  'settings.ownModel': 'Your model',
  // the own model of the person
  ownModelLead:
    'With a key of your own, agents that you ask answer with your model and at your expense, in workspaces that allow it. Your server then receives the texts of those chats.',
  ownModelSaved: 'Saved. Agents use it from their next answer to you, where it is allowed.',
  ownModelDelete: 'Delete your model',
  ownModelDeleteTitle: 'Delete your model and its key?',
  ownModelDeleteEffects:
    'Agents that you ask use the model of the workspace again. A run that uses yours now ends before its next request.',
  ownModelDeleted: 'Your model and its key are deleted.',
  ownModelForbidden: "The operator doesn't allow people's own models here.",
  settingsOwnModel: 'Settings → Your model',
  ownModelState: 'State',
  ownModelUntested: 'Not tested since it was saved.',
  ownModelTested: 'Tested {{when}}: it answered.',
  ownModelTestFailed: 'Tested {{when}}: {{why}}',
  ownModelFailed: 'Failed in a run {{when}}: {{why}}',
  ownModelUses: 'Where it answers',
  ownModelUsed: 'Used for your requests',
  ownModelNotUsed: 'Not used, because {{why}}.',
  // who pays in a workspace
  whoPays: 'Who pays',
  'paysForYou.person': 'Your own key pays for your requests here ({{model}}).',
  'paysForYou.workspace': "The workspace's key pays for your requests here ({{model}}).",
  'paysForYou.system': "The operator's key pays for your requests here ({{model}}).",
  'paysForYou.demo': 'Your requests here are free of charge, with the demo model.',
  ownModelElsewhere: 'Your own model does not answer here, because {{why}}.',
  allowOwnModels: 'Members may use their own models here',
  allowOwnModelsHint:
    "A member's own key then pays for the answers that they ask for. Their server receives the texts of the chat, also those of others, so it is off at first.",
  noModelOffered: 'No model can answer now. Ask the operator.',
} as const

export default models
