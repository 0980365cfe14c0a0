import { useQueryClient } from '@tanstack/react-query'
import { CloudUpload, Download, FolderOpen, Trash2, Upload, X } from 'lucide-react'
import { type ReactNode, useDeferredValue, useRef, useState } from 'react'
import {
  contentUrlOf,
  type FileKind,
  type FileRow,
  keys,
  thumbnailUrlOf,
  uploadFile,
  useDeleteFile,
  useFiles,
  useFileText,
  type WorkspaceRow,
} from '@/api'
import { formatBytes } from '@/lib/bytes'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { newId } from '@/lib/ids'
import { useTexts } from '@/lib/language'
import { formatRelative } from '@/lib/time'
import { Button, IconButton } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { EmptyState } from '@/ui/EmptyState'
import { SearchInput } from '@/ui/Field'
import { FilePicker } from '@/ui/FilePicker'
import { Loading } from '@/ui/Loading'
import layout from '@/ui/layout.module.css'
import { Segments } from '@/ui/Segments'
import { showToast } from '@/ui/toast'
import { useFileDrop } from '../fileDrop'
import { factsOf, iconOf } from './FileCard'
import styles from './FilesPage.module.css'

interface FilesPageProps {
  workspace: WorkspaceRow
  me: string
  /** The id of the file that is shown beside the list. */
  open: string | undefined
  onOpen(id: string | null): void
  /** The place of a file: a link to its chat, or the workspace. */
  chatLink(row: FileRow): ReactNode
}

const kinds = ['all', 'image', 'pdf', 'document', 'slides', 'sheet', 'text'] as const

/** The files of a workspace: those of its chats that the reader takes part in, and those for everybody. */
export function FilesPage({ workspace, me, open, onOpen, chatLink }: FilesPageProps) {
  const { t } = useTexts()
  const [name, setName] = useState('')
  const [kind, setKind] = useState<(typeof kinds)[number]>('all')
  const filter = { q: useDeferredValue(name.trim()), kind: kind === 'all' ? null : (kind satisfies FileKind) }
  const query = useFiles(workspace.id, filter)
  const rows = query.data?.pages.flatMap(page => page.results)
  const { uploads, upload } = useWorkspaceUploads(workspace.id)
  const isDragging = useFileDrop(upload)
  const picker = useRef<HTMLInputElement>(null)
  const opened = rows?.find(row => row.id === open)
  const isFiltered = name !== '' || kind !== 'all'
  const pick = () => picker.current?.click()
  return (
    <main className={layout.stage} id="log" tabIndex={-1}>
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
      <div className={cx(styles.columns, opened && styles.withFile)}>
        <div className={layout.page} data-pane="list">
          <div className={cx(layout.pad, styles.list)}>
            <p className={cx(styles.drop, isDragging && styles.over)}>
              <CloudUpload className="i" aria-hidden />
              <span>{t('files.dropHere')}</span>
            </p>
            <div className={styles.filters}>
              <SearchInput label={t('files.search')} value={name} onChange={setName} />
              <Segments
                label={t('files.kind')}
                value={kind}
                options={kinds.map(each => ({ value: each, label: t(`files.kind.${each}`) }))}
                onChange={setKind}
              />
            </div>
            {uploads.map(each => (
              <p key={each.id} className={styles.upload}>
                <span className="cut grow">{each.name}</span>
                {each.error === null ? (
                  <progress value={each.progress} aria-label={t('files.uploading', { name: each.name })} />
                ) : (
                  <span className="no" role="alert">
                    {getErrorText(each.error)}
                  </span>
                )}
                <IconButton small label={t('files.removeNamed', { name: each.name })} onClick={each.cancel}>
                  <X className="i s" />
                </IconButton>
              </p>
            ))}
            {rows === undefined ? (
              <Loading query={query} lines={6} />
            ) : rows.length > 0 ? (
              <FileTable rows={rows} open={open} onOpen={onOpen} chatLink={chatLink} />
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
        {opened ? (
          <FileDetail
            key={opened.id}
            row={opened}
            workspace={workspace}
            mayDelete={workspace.verbs.includes('delete_any_file') || opened.uploaded_by?.id === me}
            chatLink={chatLink}
            onClose={() => onOpen(null)}
          />
        ) : null}
      </div>
    </main>
  )
}

interface FileTableProps extends Pick<FilesPageProps, 'open' | 'onOpen' | 'chatLink'> {
  rows: readonly FileRow[]
}

function FileTable({ rows, open, onOpen, chatLink }: FileTableProps) {
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
          const [, ...facts] = factsOf({ ...row, file_kind: row.kind }, t)
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
                      {chatLink(row)}
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

interface FileDetailProps extends Pick<FilesPageProps, 'chatLink' | 'workspace'> {
  row: FileRow
  mayDelete: boolean
  onClose(): void
}

/** One file: its picture, where it is, and the text that agents read of it. */
function FileDetail({ row, workspace, mayDelete, chatLink, onClose }: FileDetailProps) {
  const { t } = useTexts()
  const text = useFileText(workspace.id, row.id)
  const [isAsked, setAsked] = useState(false)
  const remove = useDeleteFile(workspace.id)
  return (
    <aside className={cx(layout.panel, styles.detail)} aria-label={row.name}>
      <header className={layout.bar}>
        <h2 className="cut">{row.name}</h2>
        <span className="end">
          <a
            href={contentUrlOf(row.id)}
            download={row.name}
            className={styles.download}
            aria-label={t('files.download', { name: row.name })}
            title={t('files.download', { name: row.name })}
          >
            <Download className="i" aria-hidden />
          </a>
          {mayDelete ? (
            <IconButton label={t('files.delete')} onClick={() => setAsked(true)}>
              <Trash2 className="i" />
            </IconButton>
          ) : null}
          <IconButton label={t('close')} onClick={onClose}>
            <X className="i" />
          </IconButton>
        </span>
      </header>
      <div className={cx(layout.page, layout.pad)}>
        {row.has_thumbnail ? <img src={thumbnailUrlOf(row.id)} alt={row.name} className={styles.picture} /> : null}
        <p className="muted sm">
          {factsOf({ ...row, file_kind: row.kind }, t).join(' · ')} · {chatLink(row)}
          {row.chat_id ? ` · ${t('files.canSee')}` : null}
        </p>
        {row.kind === 'image' || row.kind === 'other' ? null : (
          <>
            <h3>{t('files.text')}</h3>
            {text.data ? (
              <pre className={styles.text}>{text.data.text || t('files.noText')}</pre>
            ) : (
              <Loading query={text} lines={6} />
            )}
            {text.data?.is_cut ? <p className="faint xs">{t('files.textCut')}</p> : null}
          </>
        )}
      </div>
      <Dialog
        open={isAsked}
        onOpenChange={setAsked}
        title={t('files.deleteTitle', { name: row.name })}
        description={t('files.deleteHint')}
      >
        <div className={styles.buttons}>
          <Button onClick={() => setAsked(false)}>{t('cancel')}</Button>
          <Button
            tone="bad"
            busy={remove.isPending ? t('loading') : null}
            onClick={() =>
              remove.mutate(row.id, {
                onSuccess: onClose,
                onError: error => showToast(getErrorText(error)),
              })
            }
          >
            {t('files.deleteNow')}
          </Button>
        </div>
      </Dialog>
    </aside>
  )
}

interface WorkspaceUpload {
  id: string
  name: string
  progress: number
  error: unknown
  cancel(): void
}

/** The uploads to the workspace that are under way or have failed. */
function useWorkspaceUploads(workspaceId: string) {
  const client = useQueryClient()
  const [uploads, setUploads] = useState<readonly WorkspaceUpload[]>([])
  const change = (id: string, part: Partial<WorkspaceUpload>) =>
    setUploads(all => all.map(each => (each.id === id ? { ...each, ...part } : each)))
  const remove = (id: string) => setUploads(all => all.filter(each => each.id !== id))
  const uploadOne = async (file: File) => {
    const id = newId()
    const control = new AbortController()
    const cancel = () => {
      control.abort()
      remove(id)
    }
    setUploads(all => [...all, { id, name: file.name, progress: 0, error: null, cancel }])
    try {
      await uploadFile({ workspaceId }, id, file, progress => change(id, { progress }), control.signal)
      remove(id)
      await client.invalidateQueries({ queryKey: keys.files(workspaceId) })
    } catch (error) {
      change(id, { error })
    }
  }
  return { uploads, upload: (files: readonly File[]) => files.forEach(file => void uploadOne(file)) }
}
