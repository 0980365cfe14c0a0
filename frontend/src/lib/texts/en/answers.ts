/** The texts of other answers of an agent and the choice of the one in use, in English. */
const answers = {
  'answers.place': '{{n}} of {{count}}',
  'answers.previous': 'Previous answer',
  'answers.next': 'Next answer',
  'answers.notInUse': 'not in use',
  'answers.use': 'Use this one',
  'answers.whoReads': 'Agents read the answer that is in use.',
} as const

export default answers
