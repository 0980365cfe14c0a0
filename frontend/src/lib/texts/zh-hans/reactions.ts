/** The texts of reactions to messages, in Simplified Chinese. */
const reactions = {
  'reactions.title': '表情回应',
  'reactions.by': '{{names}}回应了 {{emoji}}',
  'reactions.agent': '{{name}}（Agent）',
  'reactions.more_one': '另外 {{count}} 位',
  'reactions.more_other': '另外 {{count}} 位',
  'reactions.other': '其他表情符号',
  'reactions.notEmoji': '这不是表情符号。',
}

export default reactions
