/** The texts of other answers of an agent and the choice of the one in use, in Simplified Chinese. */
const answers = {
  'answers.place': '第 {{n}} 个，共 {{count}} 个',
  'answers.previous': '上一个回答',
  'answers.next': '下一个回答',
  'answers.notInUse': '未采用',
  'answers.use': '采用这个',
  'answers.whoReads': 'Agent 读取采用中的回答。',
}

export default answers
