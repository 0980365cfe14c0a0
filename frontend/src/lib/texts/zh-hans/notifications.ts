/** The texts of the bell, in Simplified Chinese. */
const notifications = {
  unreadNote: '未读',
  notifications: '通知',
  notificationsUnread: '通知，{{unread}} 条未读',
  markAllRead: '全部标为已读',
  noNotifications: '没有新通知',
  noNotificationsHint: '有人提及你，或你的建议、合并有了进展时，会显示在这里。',
  moreNotifications: '更早的通知',
  newNotification_one: '{{count}} 条未读通知',
  newNotification_other: '{{count}} 条未读通知',
  'note.mention': '{{actor}}提及了你',
  'note.mentionIn': '{{actor}}在{{chat}}提及了你',
  'note.suggestionCreated': '{{actor}}对{{agent}}提出了建议',
  'note.suggestionAccepted': '{{actor}}采纳了你对{{agent}}的建议',
  'note.suggestionRejected': '{{actor}}驳回了你对{{agent}}的建议',
  'note.suggestionReopened': '你对{{agent}}的建议重新等待审阅：{{actor}}放弃了合并的草稿',
  'note.lockLost': '{{actor}}接手了你正在编写的{{agent}}草稿。你的文字已保留。',
  'note.draftAsked': '{{actor}}想编写{{agent}}的草稿',
  'note.draftAskedIn': '{{actor}}想编写{{chat}}中{{agent}}的草稿',
  'note.draftFree': '{{agent}}的草稿已空出',
  'note.draftFreeIn': '{{chat}}中{{agent}}的草稿已空出',
  'note.mergeDone': '对{{agent}}的建议已合并：草稿已为你打开',
  'note.mergeFailed': '对{{agent}}的建议无法合并成草稿',
  'note.inWorkspace': '于{{workspace}}',
}

export default notifications
