/** The texts of files, in English. */
const files = {
  'files.upload': 'Upload',
  'files.dropHere':
    'Drop files anywhere on this page, paste them, or upload them. All members and agents of this workspace can read them.',
  'files.name': 'Name',
  'files.size': 'Size',
  'files.addedBy': 'Added by',
  'files.when': 'When',
  'files.wholeWorkspace': 'whole workspace',
  'files.search': 'Find by name or text',
  'files.kind': 'Kind',
  'files.kind.all': 'All',
  'files.kind.image': 'Images',
  'files.kind.pdf': 'PDF',
  'files.kind.document': 'Documents',
  'files.kind.slides': 'Slides',
  'files.kind.sheet': 'Spreadsheets',
  'files.kind.text': 'Text',
  'files.kind.other': 'Other',
  'files.none': 'No files yet',
  'files.noneHint':
    'Files that you drop here can be read by every agent of this workspace. Files in a chat can be read in that chat.',
  'files.missing': 'This file does not exist, or you may not see it.',
  'files.noMatch': 'No file matches',
  'files.clear': 'Clear filters',
  'files.text': 'Extracted text',
  'files.noText': 'There is no text in this file.',
  'files.textCut': 'The file has more text than is shown.',
  'files.delete': 'Delete…',
  'files.deleteTitle': 'Delete {{name}}?',
  'files.deleteHint':
    'Agents can no longer read it. Its message stays and says that the file was deleted. This cannot be undone.',
  'files.deleteNow': 'Delete',
  'files.inChat': 'in #{{chat}}',
  'files.more': 'Show more',
  'files.canSee': 'participants of this chat can see it',
} as const

export default files
