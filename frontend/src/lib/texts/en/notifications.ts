/** The texts of the bell, in English. The other languages have the same keys. */
const notifications = {
  unreadNote: 'unread',
  notifications: 'Notifications',
  notificationsUnread: 'Notifications, {{unread}} unread',
  markAllRead: 'Mark all as read',
  noNotifications: 'Nothing new',
  noNotificationsHint: 'When somebody mentions you, or a suggestion or merge of yours moves on, you read it here.',
  moreNotifications: 'Earlier ones',
  newNotification_one: '{{count}} unread notification',
  newNotification_other: '{{count}} unread notifications',
  'note.mention': '{{actor}} mentioned you',
  'note.mentionIn': '{{actor}} mentioned you in {{chat}}',
  'note.suggestionCreated': '{{actor}} suggests a change to {{agent}}',
  'note.suggestionAccepted': '{{actor}} accepted your suggestion for {{agent}}',
  'note.suggestionRejected': '{{actor}} rejected your suggestion for {{agent}}',
  'note.suggestionReopened': 'Your suggestion for {{agent}} waits again: {{actor}} discarded the merged draft',
  'note.lockLost': '{{actor}} took over the draft of {{agent}} from you. Your text is kept.',
  'note.draftAsked': '{{actor}} asks for the draft of {{agent}}',
  'note.draftAskedIn': '{{actor}} asks for the draft of {{agent}} in {{chat}}',
  'note.draftFree': 'The draft of {{agent}} is free',
  'note.draftFreeIn': 'The draft of {{agent}} in {{chat}} is free',
  'note.mergeDone': 'The suggestions for {{agent}} are merged: the draft is open for you',
  'note.mergeFailed': 'The suggestions for {{agent}} could not be merged into a draft',
  'note.inWorkspace': 'in {{workspace}}',
}

export default notifications
