/** The texts of reactions to messages, in Traditional Chinese. */
const reactions = {
  'reactions.title': '表情回應',
  'reactions.by': '{{names}}回應了 {{emoji}}',
  'reactions.agent': '{{name}}（Agent）',
  'reactions.more_one': '另外 {{count}} 位',
  'reactions.more_other': '另外 {{count}} 位',
  'reactions.other': '其他表情符號',
  'reactions.notEmoji': '這不是表情符號。',
}

export default reactions
