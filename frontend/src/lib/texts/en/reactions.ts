/** The texts of reactions to messages, in English. */
const reactions = {
  'reactions.title': 'Reactions',
  'reactions.by': '{{names}} reacted with {{emoji}}',
  'reactions.agent': '{{name}} (agent)',
  'reactions.more_one': '{{count}} more',
  'reactions.more_other': '{{count}} more',
  'reactions.other': 'Another emoji',
  'reactions.notEmoji': 'That is not an emoji.',
} as const

export default reactions
