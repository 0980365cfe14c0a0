/** The texts of comparisons of production and draft, in English. The other languages have the same keys. */
const compare = {
  'compare.title': 'Compare: {{name}}',
  'compare.hint':
    'Production and the draft answer the same message side by side in this chat. Tools that change things are turned off.',
  'compare.question': 'Message for both',
  'compare.ask': 'Ask both',
  'compare.applyAndAsk': 'Apply and compare',
  'compare.askApplied': 'Compare {{apply}}',
  'compare.asking': 'Asking both',
  'compare.noText': 'Write the message first.',
  'compare.noDraft': '{{name}} has no draft in this chat. Edit it first, then compare.',
  'compare.notApplied': 'Your latest text is not applied here yet. It answers once it is.',
  'compare.othersText': 'Nothing is applied here yet, and someone else is writing.',
  'compare.asked': '{{name}} asked production and draft of {{agent}}, {{time}}',
  'compare.production': 'Production {{version}}',
  'compare.draft': 'Draft {{apply}}',
  'compare.tools_one': '{{count}} tool call',
  'compare.tools_other': '{{count}} tool calls',
  'compare.saveAs': 'Save as {{version}}…',
  'compare.better': 'Which is better?',
  'compare.equal': 'Equal',
  'compare.over': 'Voting closed: this draft has ended.',
  'compare.votedBy': 'Voted: {{names}}',
  'compare.votes': 'How the chat voted',
  'compare.voteCounts_one': 'Draft {{apply}}: {{count}} vote · equal: {{equal}} · production: {{production}}',
  'compare.voteCounts_other': 'Draft {{apply}}: {{count}} votes · equal: {{equal}} · production: {{production}}',
} as const

export default compare
