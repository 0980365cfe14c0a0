import { X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import {
  type HttpServerInput,
  type OpenApiDocument,
  type OpenApiOperation,
  type ToolServerRow,
  useImportOperations,
  useReadOpenApiDocument,
  type WorkspaceToolRow,
} from '@/api'
import { formatBytes } from '@/lib/bytes'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import { Checkbox } from '@/ui/Checkbox'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { ErrorBanner } from '@/ui/ErrorBanner'
import { Field, SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { FileDrop } from '@/ui/FileDrop'
import { emptyHttpServer, httpTexts } from './AddServerDialog'
import { ServerFields } from './ServerFields'
import styles from './Tools.module.css'

interface ImportDialogProps {
  workspaceId: string
  /** The server whose document is read again; without one, a server is added. */
  server?: ToolServerRow
  open: boolean
  /** Called with the new tools. */
  onAdded?(tools: readonly WorkspaceToolRow[]): void
  onOpenChange(open: boolean): void
}

/** Imports operations of an OpenAPI document as tools. */
export function ImportDialog({ workspaceId, server, open, onAdded, onOpenChange }: ImportDialogProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={t('tools.import.title')}
      description={t(server ? 'tools.import.again' : 'tools.import.hint')}
      className={cx(dialogStyles.wide, styles.review)}
    >
      <Form workspaceId={workspaceId} server={server} onAdded={onAdded} onClose={() => onOpenChange(false)} />
    </Dialog>
  )
}

/** Returns the server that the document suggests. A person confirms or changes it. */
function buildServer({ title, base_url, auth, auth_name }: OpenApiDocument): HttpServerInput {
  const known = httpTexts.schemes.find(scheme => scheme === auth)
  return {
    ...emptyHttpServer,
    kind: 'openapi',
    name: title,
    base_url,
    auth: known ?? 'none',
    auth_name: known ? auth_name : '',
  }
}

interface Source {
  /** The URL of the document, or its text. */
  text: string
  /** The file that the text is from. */
  fileName: string | null
}

const MAX_BYTES = 8 * 1024 * 1024

/** Returns the text of a file; null if it is no text. */
async function readText(file: File): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    return null
  }
}

interface SourceFieldProps {
  source: Source
  problem: string | null
  onChange(source: Source): void
}

/** The URL or the text of a document. The text of a file is not shown: it may be very long. */
function SourceField({ source, problem, onChange }: SourceFieldProps) {
  const { t } = useTexts()
  return (
    <Field
      label={t('tools.document')}
      hint={source.fileName === null ? t('tools.document.hint') : null}
      error={problem}
    >
      {attributes =>
        source.fileName === null ? (
          <textarea
            {...attributes}
            className={cx(fieldStyles.input, 'mono')}
            rows={2}
            required
            maxLength={MAX_BYTES}
            spellCheck={false}
            placeholder="https://api.example.org/openapi.json"
            value={source.text}
            onChange={event => onChange({ text: event.target.value, fileName: null })}
          />
        ) : (
          <span className={styles.file}>
            <output {...attributes} className="cut mono">
              {source.fileName}
            </output>
            <span className="faint xs">{formatBytes(new Blob([source.text]).size)}</span>
            <IconButton label={t('tools.document.remove')} small onClick={() => onChange({ text: '', fileName: null })}>
              <X className="i s" aria-hidden />
            </IconButton>
          </span>
        )
      }
    </Field>
  )
}

interface FormProps {
  workspaceId: string
  server: ToolServerRow | undefined
  onAdded: ImportDialogProps['onAdded']
  onClose(): void
}

function Form({ workspaceId, server, onAdded, onClose }: FormProps) {
  const { t } = useTexts()
  const [source, setSource] = useState<Source>({ text: '', fileName: null })
  const [fileProblem, setFileProblem] = useState<string | null>(null)
  const [changes, setChanges] = useState<Partial<HttpServerInput>>({})
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const readDocument = useReadOpenApiDocument(workspaceId)
  const [createdServerId, setCreatedServerId] = useState<string>()
  const add = useImportOperations(workspaceId, setCreatedServerId)
  const serverId = server?.id ?? createdServerId
  const job = readDocument.data
  const document = job?.document
  const problem = fileProblem ?? job?.message ?? null
  const input = document ? { ...buildServer(document), ...changes } : emptyHttpServer
  const imported = new Set(server?.tools.map(tool => tool.remote_name))
  const handleSource = (next: Source) => {
    setSource(next)
    setFileProblem(null)
    setChanges({})
    setChosen(new Set())
    setCreatedServerId(undefined)
    readDocument.reset()
    add.reset()
  }
  const handleFile = async (file: File) => {
    const text = await readText(file)
    if (text === null || file.size > MAX_BYTES) {
      handleSource({ text: '', fileName: null })
      setFileProblem(t(text === null ? 'tools.document.noText' : 'tools.document.tooLarge', { file: file.name }))
      return
    }
    handleSource({ text, fileName: file.name })
    readDocument.mutate(text.trim())
  }
  const handleSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (!job || !document) return readDocument.mutate(source.text.trim())
    const operations = document.operations
      .filter(operation => chosen.has(operation.key))
      .map(({ key, name }) => ({ key, name }))
    const onSuccess = ({ results }: { results: WorkspaceToolRow[] }) => {
      onClose()
      onAdded?.(results)
    }
    add.mutate({ jobId: job.id, operations, server: serverId ?? input }, { onSuccess })
  }
  return (
    <form className="col gap" onSubmit={handleSubmit}>
      <FileDrop accept=".yaml,.yml,.json,application/yaml,application/json" onFile={file => void handleFile(file)} />
      <SourceField source={source} problem={problem} onChange={handleSource} />
      <ErrorBanner error={readDocument.error ?? add.error} />
      {document ? (
        <>
          <DocumentSummary document={document} />
          <Operations
            operations={document.operations}
            imported={imported}
            chosen={chosen}
            onToggle={key =>
              setChosen(before => {
                const next = new Set(before)
                if (!next.delete(key)) next.add(key)
                return next
              })
            }
          />
          {serverId ? null : (
            <ServerFields
              {...httpTexts}
              input={input}
              onChange={change => setChanges(before => ({ ...before, ...change }))}
            />
          )}
        </>
      ) : null}
      <div className="row endrow">
        <Button onClick={onClose}>{t('cancel')}</Button>
        {document ? (
          <Button tone="ink" type="submit" busy={add.isPending ? t('mcp.adding') : null}>
            {t(server && chosen.size === 0 ? 'tools.import.compare' : 'tools.import.action', { count: chosen.size })}
          </Button>
        ) : (
          <Button tone="ink" type="submit" busy={readDocument.isPending ? t('tools.reading') : null}>
            {t('tools.read')}
          </Button>
        )}
      </div>
    </form>
  )
}

function DocumentSummary({ document }: { document: OpenApiDocument }) {
  const { t } = useTexts()
  return (
    <p className="sm muted" role="status">
      <b>{document.title}</b> · OpenAPI {document.version} ·{' '}
      {t('tools.operations', { count: document.operations.length })}
      {document.left_out > 0 ? ` (${t('tools.operations.more', { count: document.left_out })})` : null} ·{' '}
      {formatBytes(document.size)}
    </p>
  )
}

interface OperationsProps {
  operations: readonly OpenApiOperation[]
  imported: ReadonlySet<string>
  chosen: ReadonlySet<string>
  onToggle(key: string): void
}

function Operations({ operations, imported, chosen, onToggle }: OperationsProps) {
  const { t } = useTexts()
  const [query, setQuery] = useState('')
  const needle = query.trim().toLowerCase()
  const found = operations.filter(one =>
    `${one.method} ${one.path} ${one.name} ${one.tag}`.toLowerCase().includes(needle),
  )
  return (
    <div className="col gap">
      <SearchInput label={t('tools.findOperation')} value={query} onChange={setQuery} />
      <ul className={styles.operations}>
        {found.map(one => (
          <li key={one.key}>
            {one.problem || imported.has(one.key) ? (
              <span className={styles.nobox} aria-hidden />
            ) : (
              <Checkbox
                checked={chosen.has(one.key)}
                label={`${one.method} ${one.path}`}
                onChange={() => onToggle(one.key)}
              />
            )}
            <span className="faint xs mono">{one.method}</span>
            <span className="mono xs cut" title={one.summary}>
              {one.path}
            </span>
            <span className={cx('mono xs cut', chosen.has(one.key) ? null : 'muted')}>{one.name}</span>
            <span className="faint xs cut" title={one.problem}>
              {one.problem || (imported.has(one.key) ? t('tools.imported') : t(`mcp.does.${one.effect}`))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
