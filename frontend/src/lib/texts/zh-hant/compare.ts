/** The texts of comparing production and draft, in Traditional Chinese. */
const compare = {
  'compare.title': '對照：{{name}}',
  'compare.hint': '正式版本與草稿在這個聊天室並排回答同一則訊息。會更動資料的工具已關閉。',
  'compare.question': '給兩者的訊息',
  'compare.ask': '同時詢問',
  'compare.applyAndAsk': '套用並對照',
  'compare.askApplied': '對照 {{apply}}',
  'compare.asking': '正在詢問',
  'compare.noText': '先寫下訊息。',
  'compare.noDraft': '{{name}}在這個聊天室沒有草稿。先編輯，再對照。',
  'compare.notApplied': '所寫的內容尚未套用於此。套用後才會回答。',
  'compare.othersText': '這裡尚未套用任何內容，且有人正在編寫。',
  'compare.asked': '{{name}}詢問{{agent}}的正式版本與草稿，{{time}}',
  'compare.production': '正式版本 {{version}}',
  'compare.draft': '草稿 {{apply}}',
  'compare.tools_one': '{{count}} 次工具呼叫',
  'compare.tools_other': '{{count}} 次工具呼叫',
  'compare.saveAs': '儲存為 {{version}}…',
  'compare.better': '哪個比較好？',
  'compare.equal': '一樣好',
  'compare.over': '投票已結束：這份草稿已關閉。',
  'compare.votedBy': '投票者：{{names}}',
  'compare.votes': '聊天室的投票',
  'compare.voteCounts_one': '草稿 {{apply}}：{{count}} 票 · 一樣好：{{equal}} · 正式版本：{{production}}',
  'compare.voteCounts_other': '草稿 {{apply}}：{{count}} 票 · 一樣好：{{equal}} · 正式版本：{{production}}',
}

export default compare
