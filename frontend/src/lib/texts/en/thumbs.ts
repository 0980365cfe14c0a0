/** The texts of what people think of answers, in English. */
const thumbs = {
  'agentTab.thumbs': 'Feedback',
  'thumbs.whatWasWrong': 'What was wrong?',
  'thumbs.reason.wrong_fact': 'Wrong fact',
  'thumbs.reason.not_as_asked': "Didn't do what was asked",
  'thumbs.reason.too_long': 'Too long',
  'thumbs.whoReads': 'Editors who can read this chat see it, with the answer and its version.',
  'thumbs.goodBy': 'Good answer: {{names}}',
  'thumbs.badBy': 'Bad answer: {{names}}',
  'thumbs.own': 'You: {{words}}',
  'thumbs.sayWhy': 'Say what was wrong',
  'thumbs.change': 'Change',
  'thumbs.which': 'Which answers',
  'thumbs.all': 'Good and bad',
  'thumbs.up': 'Good',
  'thumbs.down': 'Bad',
  'thumbs.counts': 'Good {{up}} · Bad {{down}}',
  'thumbs.unreadable': "In chats that you can't read: {{n}}",
  'thumbs.none': 'Nobody has called an answer of {{name}} good or bad yet.',
  'thumbs.noneHere': 'None of them in the chats that you can read.',
  'thumbs.more': 'Show more',
} as const

export default thumbs
