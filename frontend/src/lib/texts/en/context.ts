/** The texts of long chats and their summaries, in English. */
const context = {
  'settings.context': 'Long chats',
  'context.about':
    'This applies to chats that are too long for a model. An agent may have settings of its own, in the workshop.',
  'context.summariseHint': 'It reads a summary of the older messages, which a model keeps and people can correct.',
  'context.retrieveHint': 'It reads the older messages that match the request, and cites them.',
  'context.truncateHint': 'It reads the newest messages only.',
  'context.maxTokensHint': 'At most so many tokens of a chat in one request. Empty: as many as the model can read.',
  'context.saved': 'Saved.',
  'context.builtFrom': 'What the model read of this chat',
  'context.ofSummary': 'summary',
  'context.ofFound': '{{count}} found',
  'context.ofTurns': '{{count}} turns',
  'context.summarisedAbove': 'Older messages above this line are summarised',
  'context.openSummary': 'open summary',
  'context.summary': 'Summary',
  'context.summaryOf': 'Summary of {{count}} messages',
  'context.dates': '{{from}} to {{to}}',
  'context.written': 'written {{time}} by {{model}}',
  'context.tokensFor': '{{n}} tokens for {{of}}',
  'context.writing': 'a new one is being written',
  'context.failed': 'the last attempt failed, so older messages are left out',
  'context.none': 'There is no summary yet.',
  'context.whenLong': 'When it gets long: {{strategy}}',
  'context.writeAnew': 'Write anew',
  'context.correct': 'Correct',
  'context.correction': 'Correction',
  'context.saveCorrection': 'Save correction',
  'context.correctedBy': 'corrected by {{name}}, {{time}} · later summaries keep it',
  'context.undo': 'Undo',
} as const

export default context
