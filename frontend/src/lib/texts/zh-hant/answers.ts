/** The texts of other answers of an agent and the choice of the one in use, in Traditional Chinese. */
const answers = {
  'answers.place': '第 {{n}} 個，共 {{count}} 個',
  'answers.previous': '上一個回答',
  'answers.next': '下一個回答',
  'answers.notInUse': '未採用',
  'answers.use': '採用這個',
  'answers.whoReads': 'Agent 讀取採用中的回答。',
}

export default answers
