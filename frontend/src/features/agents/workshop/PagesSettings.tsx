import { FileX, Plus, X } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { type FileKind, isNotFound, type SpecContent, useFile, useFiles } from '@/api'
import { iconOf } from '@/features/files'
import { useTexts } from '@/lib/language'
import { Button, IconButton } from '@/ui/Button'
import blocks from '@/ui/blocks.module.css'
import { Dialog } from '@/ui/Dialog'
import { SearchInput } from '@/ui/Field'
import fieldStyles from '@/ui/Field.module.css'
import { Loading } from '@/ui/Loading'
import { Segments } from '@/ui/Segments'

type ToolUse = SpecContent['tools'][number]
type Settings = NonNullable<ToolUse['custom_config']>

/** The maximal number of pages, as the server checks it. */
const MAX_PAGES = 20
const KINDS_WITHOUT_TEXT: readonly FileKind[] = ['image', 'other']
const modes = ['context', 'retrievable'] as const

interface PagesSettingsProps {
  workspaceId: string
  use: ToolUse
  isReadOnly: boolean
  onChange(custom_config: Settings): void
}

/** The knowledge pages of an agent: which files they are, and whether they are part of every request. */
export function PagesSettings({ workspaceId, use, isReadOnly, onChange }: PagesSettingsProps) {
  const { t } = useTexts()
  const [isOpen, setOpen] = useState(false)
  const settings: Settings = use.custom_config ?? {}
  const ids = Array.isArray(settings.page_ids) ? settings.page_ids.map(String) : []
  const mode = settings.mode === 'retrievable' ? 'retrievable' : 'context'
  const toggle = (id: string) =>
    onChange({ ...settings, page_ids: ids.includes(id) ? ids.filter(other => other !== id) : [...ids, id] })
  return (
    <>
      <fieldset className={fieldStyles.field}>
        <legend className={fieldStyles.label}>{t('pages.title')}</legend>
        {ids.length > 0 ? (
          <ul className="col">
            {ids.map(id => (
              <Page key={id} id={id} workspaceId={workspaceId} onRemove={isReadOnly ? null : () => toggle(id)} />
            ))}
          </ul>
        ) : (
          <span className="faint">{t('pages.none')}</span>
        )}
        {isReadOnly ? null : (
          <div className="row">
            <Button size="xs" onClick={() => setOpen(true)}>
              <Plus className="i s" aria-hidden />
              {t('pages.add')}
            </Button>
          </div>
        )}
        <span className="hint">{t('pages.rights')}</span>
      </fieldset>
      <fieldset className={fieldStyles.field}>
        <legend className={fieldStyles.label}>{t('pages.mode')}</legend>
        {isReadOnly ? (
          <span>{t(`pages.${mode}`)}</span>
        ) : (
          <div className="row">
            <Segments
              label={t('pages.mode')}
              value={mode}
              options={modes.map(value => ({ value, label: t(`pages.${value}`) }))}
              onChange={value => onChange({ ...settings, mode: value })}
            />
          </div>
        )}
        <span className="hint">{t(`pages.${mode}Hint`)}</span>
      </fieldset>
      <Dialog
        open={isOpen}
        onOpenChange={setOpen}
        title={t('pages.dialog')}
        description={t('pages.lead', { most: MAX_PAGES })}
      >
        <PagePicker workspaceId={workspaceId} ids={ids} onPick={isReadOnly ? null : toggle} />
        <div className="row endrow">
          <Button tone="ink" onClick={() => setOpen(false)}>
            {t('pages.done')}
          </Button>
        </div>
      </Dialog>
    </>
  )
}

interface PageProps {
  id: string
  workspaceId: string
  /** Null: the reader may not change the pages. */
  onRemove: (() => void) | null
}

function Page({ id, workspaceId, onRemove }: PageProps) {
  const { t } = useTexts()
  const query = useFile(workspaceId, id)
  // A file of a chat is not a knowledge page, even if the reader is in that chat.
  const isMissing = isNotFound(query.error) || (query.data && query.data.chat_id !== null)
  if (!query.data && !isMissing) return <Loading query={query} lines={1} />
  const Icon = query.data && !isMissing ? iconOf(query.data.kind) : FileX
  const name = (!isMissing && query.data?.name) || t('pages.missing')
  return (
    <li className="row">
      <Icon className="i s" aria-hidden />
      <span className={isMissing ? 'no cut' : 'cut'}>{name}</span>
      {onRemove ? (
        <span className="end">
          <IconButton small label={t('pages.remove', { name })} onClick={onRemove}>
            <X className="i s" />
          </IconButton>
        </span>
      ) : null}
    </li>
  )
}

interface PagePickerProps {
  workspaceId: string
  ids: readonly string[]
  /** Null: the reader may not change the pages any more. */
  onPick: ((id: string) => void) | null
}

function PagePicker({ workspaceId, ids, onPick }: PagePickerProps) {
  const { t } = useTexts()
  const [search, setSearch] = useState('')
  const query = useFiles(workspaceId, { q: useDeferredValue(search.trim()), kind: null, ofWorkspace: true })
  const files = query.data?.pages
    .flatMap(page => page.results)
    .filter(file => !KINDS_WITHOUT_TEXT.includes(file.kind) || ids.includes(file.id))
  const isEmpty = files?.length === 0 && !query.hasNextPage
  const status = onPick ? (isEmpty ? (search ? 'pages.noMatch' : 'pages.noFiles') : null) : 'pages.readOnly'
  return (
    <div className="col gap">
      <SearchInput label={t('pages.search')} value={search} onChange={setSearch} />
      {files === undefined ? (
        <Loading query={query} lines={3} />
      ) : (
        <div className={blocks.chips}>
          {files.map(file => {
            const Icon = iconOf(file.kind)
            const isChosen = ids.includes(file.id)
            return (
              <button
                key={file.id}
                type="button"
                className={blocks.pick}
                aria-pressed={isChosen}
                disabled={!onPick || (!isChosen && ids.length >= MAX_PAGES)}
                onClick={() => onPick?.(file.id)}
              >
                <Icon className="i s" aria-hidden />
                <span className="cut">{file.name}</span>
              </button>
            )
          })}
        </div>
      )}
      <span className="hint" role="status">
        {status ? t(status) : ''}
      </span>
      {query.hasNextPage ? (
        <div className="row">
          <Button
            size="xs"
            busy={query.isFetchingNextPage ? t('loading') : null}
            onClick={() => void query.fetchNextPage()}
          >
            {t('files.more')}
          </Button>
        </div>
      ) : null}
    </div>
  )
}
