import { useQueryClient } from '@tanstack/react-query'
import { CloudUpload, FileX, FolderOpen, Trash2, Upload, X } from 'lucide-react'
import { type ReactNode, useDeferredValue, useRef, useState } from 'react'
import {
  type FileKind,
  type FileRow,
  isNotFound,
  keys,
  thumbnailUrlOf,
  useDeleteFile,
  useFile,
  useFiles,
  useFileText,
  type WorkspaceRow,
} from '@/api'
import { formatBytes } from '@/lib/bytes'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import { ConfirmDialog } from '@/ui/ConfirmDialog'
import { EmptyState } from '@/ui/EmptyState'
import { SearchInput } from '@/ui/Field'
import { FilePicker } from '@/ui/FilePicker'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { Segments } from '@/ui/Segments'
import { showToast } from '@/ui/toast'
import { useIsPhone } from '@/ui/useIsPhone'
import { useFileDrop } from '../fileDrop'
import { addUpload, cancelUpload, forgetUpload, startUpload, useUploads } from '../uploads'
import { DownloadLink } from './DownloadLink'
import { factsOf, iconOf } from './FileCard'
import styles from './FilesPage.module.css'

interface FilesPageProps {
  workspace: WorkspaceRow
  me: string
  /** The id of the file that is shown beside the list. */
  open: string | undefined
  onOpen(id: string | null): void
  /** The place of a file: a link to its chat, or the workspace. */
  renderPlace(row: FileRow): ReactNode
}

const kinds = ['all', 'image', 'pdf', 'document', 'slides', 'sheet', 'text'] as const

/** The files of a workspace: those of its chats that the reader takes part in, and those for everybody. */
export function FilesPage({ workspace, me, open, onOpen, renderPlace }: FilesPageProps) {
  const { t } = useTexts()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<(typeof kinds)[number]>('all')
  const filter = { q: useDeferredValue(name.trim()), kind: kind === 'all' ? null : (kind satisfies FileKind) }
  const query = useFiles(workspace.id, filter)
  const rows = query.data?.pages.flatMap(page => page.results)
  const { uploads, upload } = useWorkspaceUploads(workspace.id)
  const isDragging = useFileDrop(upload)
  const picker = useRef<HTMLInputElement>(null)
  const isFiltered = name !== '' || kind !== 'all'
  const pick = () => picker.current?.click()
  return (
    <main className={layout.stage} tabIndex={-1}>
      <header className={layout.bar}>
        <h1>{t('files')}</h1>
        <span className="end">
          <Button tone="ink" onClick={pick}>
            <Upload className="i s" aria-hidden />
            {t('files.upload')}
          </Button>
          <FilePicker ref={picker} label={t('files.upload')} onFiles={upload} />
        </span>
      </header>
      <div className={cx(styles.columns, rows && open && styles.withFile)}>
        <div className={layout.page} data-pane="list">
          <div className={cx(layout.pad, styles.list)}>
            <p className={cx(styles.drop, isDragging && styles.over)}>
              <CloudUpload className="i" aria-hidden />
              <UploadHint />
            </p>
            <div className={styles.filters}>
              <SearchInput label={t('files.search')} value={name} onChange={setName} />
              <Segments
                label={t('files.kind')}
                value={kind}
                options={kinds.map(kind => ({ value: kind, label: t(`files.kind.${kind}`) }))}
                onChange={setKind}
              />
            </div>
            {uploads.map(upload => (
              <p key={upload.id} className={styles.upload}>
                <span className="cut grow">{upload.file.name}</span>
                {upload.state === 'failed' ? (
                  <span className="no" role="alert">
                    {getErrorText(upload.error)}
                  </span>
                ) : (
                  <progress value={upload.progress} aria-label={t('files.uploading', { name: upload.file.name })} />
                )}
                <IconButton
                  small
                  label={t('files.removeNamed', { name: upload.file.name })}
                  onClick={() => cancelUpload(upload.id)}
                >
                  <X className="i s" />
                </IconButton>
              </p>
            ))}
            {rows === undefined ? (
              <Loading query={query} lines={6} />
            ) : rows.length > 0 ? (
              <FileTable rows={rows} open={open} onOpen={onOpen} renderPlace={renderPlace} />
            ) : isFiltered ? (
              <EmptyState
                icon={FolderOpen}
                title={t('files.noMatch')}
                actions={
                  <Button
                    onClick={() => {
                      setName('')
                      setKind('all')
                    }}
                  >
                    {t('files.clear')}
                  </Button>
                }
              />
            ) : (
              <EmptyState
                icon={FolderOpen}
                title={t('files.none')}
                actions={
                  <Button tone="ink" onClick={pick}>
                    {t('files.upload')}
                  </Button>
                }
              >
                {t('files.noneHint')}
              </EmptyState>
            )}
            {query.hasNextPage ? (
              <Button busy={query.isFetchingNextPage ? t('loading') : null} onClick={() => void query.fetchNextPage()}>
                {t('files.more')}
              </Button>
            ) : null}
          </div>
        </div>
        {rows && open ? (
          <OpenFile
            key={open}
            id={open}
            listed={rows.find(row => row.id === open)}
            workspace={workspace}
            me={me}
            renderPlace={renderPlace}
            onClose={() => onOpen(null)}
          />
        ) : null}
      </div>
    </main>
  )
}

/** How files are added, and who may read them. Nothing can be dropped on a phone. */
function UploadHint() {
  const { t } = useTexts()
  return <span>{t(useIsPhone() ? 'files.uploadHere' : 'files.dropHere')}</span>
}

interface FileTableProps extends Pick<FilesPageProps, 'open' | 'onOpen' | 'renderPlace'> {
  rows: readonly FileRow[]
}

function FileTable({ rows, open, onOpen, renderPlace }: FileTableProps) {
  const { t } = useTexts()
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th>{t('files.name')}</th>
          <th className={styles.size}>{t('files.size')}</th>
          <th className={styles.wide}>{t('files.addedBy')}</th>
          <th className={styles.wide}>{t('files.when')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(row => {
          const Icon = iconOf(row.kind)
          const [, ...facts] = factsOf(row, t) // the size has a column of its own
          return (
            <tr key={row.id} aria-selected={row.id === open}>
              <td>
                <span className={styles.file}>
                  {row.has_thumbnail ? (
                    <img src={thumbnailUrlOf(row.id)} alt="" loading="lazy" className={styles.thumbnail} />
                  ) : (
                    <Icon className="i" aria-hidden />
                  )}
                  <span className={styles.name}>
                    <button type="button" className="cut" onClick={() => onOpen(row.id)}>
                      {row.name}
                    </button>
                    <small className="faint cut">
                      {facts.map(fact => `${fact} · `)}
                      {renderPlace(row)}
                    </small>
                  </span>
                </span>
              </td>
              <td className={styles.size}>{formatBytes(row.size)}</td>
              <td className={cx(styles.wide, 'cut')}>{row.uploaded_by?.name ?? '–'}</td>
              <td className={styles.wide}>{formatRelative(row.created_at)}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface OpenFileProps extends Pick<FilesPageProps, 'me' | 'renderPlace' | 'workspace'> {
  id: string
  /** Its row in the loaded pages of the list, if it is there. */
  listed: FileRow | undefined
  onClose(): void
}

/** The file of the URL, which is read by itself if the list does not have it. */
function OpenFile({ id, listed, me, ...rest }: OpenFileProps) {
  const { t } = useTexts()
  const { workspace, onClose } = rest
  const query = useFile(workspace.id, listed ? undefined : id)
  const remove = useDeleteFile(workspace.id)
  const isMissing = isNotFound(query.error) || (query.data && query.data.workspace_id !== workspace.id)
  const row = listed ?? (isMissing ? undefined : query.data)
  if (row) {
    const mayDelete = workspace.verbs.includes('delete_any_file') || row.uploaded_by?.id === me
    return <FileDetail row={row} remove={mayDelete ? remove : null} {...rest} />
  }
  return (
    <FilePanel onClose={onClose}>
      {isMissing ? <EmptyState icon={FileX} title={t('files.missing')} /> : <Loading query={query} />}
    </FilePanel>
  )
}

interface FilePanelProps {
  name?: string
  /** Buttons before the one that closes the panel. */
  actions?: ReactNode
  children: ReactNode
  onClose(): void
}

function FilePanel({ name, actions, children, onClose }: FilePanelProps) {
  const { t } = useTexts()
  return (
    <aside className={cx(layout.panel, styles.detail)} aria-label={name}>
      <header className={layout.bar}>
        {name ? <h2 className="cut">{name}</h2> : null}
        <span className="end">
          {actions}
          <IconButton label={t('close')} onClick={onClose}>
            <X className="i" />
          </IconButton>
        </span>
      </header>
      <div className={cx(layout.page, layout.pad)}>{children}</div>
    </aside>
  )
}

interface FileDetailProps extends Pick<FilesPageProps, 'renderPlace' | 'workspace'> {
  row: FileRow
  /** Deletes the file; null: the reader may not. */
  remove: ReturnType<typeof useDeleteFile> | null
  onClose(): void
}

/** One file: its picture, where it is, and the text that agents read of it. */
function FileDetail({ row, workspace, remove, renderPlace, onClose }: FileDetailProps) {
  const { t } = useTexts()
  const [isAsked, setAsked] = useState(false)
  return (
    <FilePanel
      name={row.name}
      onClose={onClose}
      actions={
        <>
          <DownloadLink id={row.id} name={row.name} />
          {remove ? (
            <IconButton label={t('files.delete')} onClick={() => setAsked(true)}>
              <Trash2 className="i" />
            </IconButton>
          ) : null}
        </>
      }
    >
      {row.has_thumbnail ? <img src={thumbnailUrlOf(row.id)} alt={row.name} className={styles.picture} /> : null}
      <p className="muted sm">
        {factsOf(row, t).join(' · ')} · {renderPlace(row)}
        {row.chat_id ? ` · ${t('files.canSee')}` : null}
      </p>
      {row.no_text_reason ? (
        <p>{t(`files.advice.${row.no_text_reason}`)}</p>
      ) : row.kind === 'image' || row.kind === 'other' ? null : (
        <FileText workspaceId={workspace.id} id={row.id} />
      )}
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title={t('files.deleteTitle', { name: row.name })}
        description={t('files.deleteHint')}
        action={t('files.deleteNow')}
        busy={remove?.isPending ? t('loading') : null}
        onConfirm={() =>
          remove?.mutate(row.id, {
            onSuccess: onClose,
            onError: error => showToast(getErrorText(error)),
          })
        }
      />
    </FilePanel>
  )
}

const noText = { waiting: 'files.reading', failed: 'files.unreadable', ready: 'files.noText' } as const

/** The text that agents read of a file. */
function FileText({ workspaceId, id }: { workspaceId: string; id: string }) {
  const { t } = useTexts()
  const text = useFileText(workspaceId, id)
  return (
    <>
      <h3>{t('files.text')}</h3>
      {text.data ? (
        <pre className={styles.text}>{text.data.text || t(noText[text.data.state])}</pre>
      ) : (
        <Loading query={text} lines={6} />
      )}
      {text.data?.is_cut ? <p className="faint xs">{t('files.textCut')}</p> : null}
    </>
  )
}

/** The uploads to the workspace that are under way or have failed. */
function useWorkspaceUploads(workspaceId: string) {
  const client = useQueryClient()
  const uploads = useUploads({ workspaceId })
  const uploadOne = async (file: File) => {
    const id = addUpload({ workspaceId }, file)
    if (!(await startUpload(id))) return
    forgetUpload(id)
    await client.invalidateQueries({ queryKey: keys.files(workspaceId) })
  }
  return { uploads, upload: (files: readonly File[]) => files.forEach(file => void uploadOne(file)) }
}
