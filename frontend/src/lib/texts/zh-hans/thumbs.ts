/** The texts of what people think of answers, in Simplified Chinese. */
const thumbs = {
  'agentTab.thumbs': '评价',
  'thumbs.whatWasWrong': '哪里不对？',
  'thumbs.reason.wrong_fact': '内容有误',
  'thumbs.reason.not_as_asked': '没按要求做',
  'thumbs.reason.too_long': '太长',
  'thumbs.whoReads': '能查看此聊天室的编辑者会看到，并附上回答与版本。',
  'thumbs.goodBy': '认为回答得好：{{names}}',
  'thumbs.badBy': '认为回答不好：{{names}}',
  'thumbs.own': '你：{{words}}',
  'thumbs.sayWhy': '说明哪里不对',
  'thumbs.change': '更改',
  'thumbs.which': '哪些回答',
  'thumbs.all': '好与不好',
  'thumbs.up': '好',
  'thumbs.down': '不好',
  'thumbs.counts': '好 {{up}} · 不好 {{down}}',
  'thumbs.unreadable': '在你无法查看的聊天室：{{n}}',
  'thumbs.none': '还没有人评价过{{name}}的回答。',
  'thumbs.noneHere': '你能查看的聊天室里没有。',
  'thumbs.more': '显示更多',
}

export default thumbs
