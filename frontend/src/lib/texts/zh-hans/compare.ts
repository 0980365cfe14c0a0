/** The texts of comparing production and draft, in Simplified Chinese. */
const compare = {
  'compare.title': '对比：{{name}}',
  'compare.hint': '正式版本与草稿在这个聊天室并排回答同一条消息。会更改数据的工具已关闭。',
  'compare.question': '给两者的消息',
  'compare.ask': '同时询问',
  'compare.applyAndAsk': '应用并对比',
  'compare.askApplied': '对比 {{apply}}',
  'compare.asking': '正在询问',
  'compare.noText': '先写下消息。',
  'compare.noDraft': '{{name}}在这个聊天室没有草稿。先编辑，再对比。',
  'compare.notApplied': '所写的内容尚未应用于此。应用后才会回答。',
  'compare.othersText': '这里尚未应用任何内容，且有人正在编写。',
  'compare.asked': '{{name}}询问{{agent}}的正式版本与草稿，{{time}}',
  'compare.production': '正式版本 {{version}}',
  'compare.draft': '草稿 {{apply}}',
  'compare.tools_one': '{{count}} 次工具调用',
  'compare.tools_other': '{{count}} 次工具调用',
  'compare.saveAs': '保存为 {{version}}…',
  'compare.better': '哪个更好？',
  'compare.equal': '一样好',
  'compare.over': '投票已结束：这份草稿已关闭。',
  'compare.votedBy': '投票者：{{names}}',
  'compare.votes': '聊天室的投票',
  'compare.voteCounts_one': '草稿 {{apply}}：{{count}} 票 · 一样好：{{equal}} · 正式版本：{{production}}',
  'compare.voteCounts_other': '草稿 {{apply}}：{{count}} 票 · 一样好：{{equal}} · 正式版本：{{production}}',
}

export default compare
