/** The texts of files, in English. */
const files = {
  'files.upload': 'Upload',
  'files.dropHere':
    'Drop files anywhere on this page, paste them, or upload them. All members and agents of this workspace can read them.',
  'files.uploadHere': 'Upload files. All members and agents of this workspace can read them.',
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
  'files.advice.password': 'This file needs a password. Upload a copy without one, and agents can read it.',
  'files.advice.too_large': 'This file is too large, or takes too long to read. Upload a smaller part of it.',
  'files.advice.damaged': 'This file is damaged. Upload it again.',
  'files.advice.scanned':
    'The pages of this file have no text; they are probably scanned. Upload images of the pages for models that see images, or a version with text.',
  'files.advice.format': 'Files of this format are not read. Upload it as PDF, DOCX, PPTX, XLSX, text or image.',
  'files.advice.unavailable': "This file couldn't be read in time. Upload it again.",
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
