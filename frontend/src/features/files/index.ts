import { lazy } from '@/ui/lazy'

export { FileCard, iconOf } from './components/FileCard'
export { useFileDrop } from './fileDrop'
export { useFileRefusal } from './fileRefusal'
export {
  addUpload,
  cancelUpload,
  type FileUpload,
  forgetUpload,
  listUploads,
  startUpload,
  useUploads,
} from './uploads'

export const FilesPage = lazy(() => import('./components/FilesPage').then(module => ({ default: module.FilesPage })))
