import { type DraftRow, type DraftSnapshotRow, useDraftSnapshots } from '@/api'
import { useTexts } from '@/lib/language'
import { formatFullTime, formatShortDate, formatTime } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Collapsible } from '@/ui/Collapsible'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { Loading } from '@/ui/Loading'
import type { Workshop } from './draftSession'
import { RestorableText } from './LostBanner'
import workshopStyles from './Workshop.module.css'

interface DraftSnapshotsProps {
  chatId: string
  draft: DraftRow
  workshop: Workshop
  open: boolean
  onOpenChange(open: boolean): void
}

/** The dialog with the snapshots of a draft, which can be copied and put back. */
export function DraftSnapshots(props: DraftSnapshotsProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={t('draftSnapshots')}
      description={t('draftSnapshotsHint')}
      className={dialogStyles.wide}
    >
      <SnapshotList {...props} />
    </Dialog>
  )
}

function SnapshotList({ chatId, draft, workshop, onOpenChange }: DraftSnapshotsProps) {
  const { t } = useTexts()
  const snapshots = useDraftSnapshots(chatId, draft)
  if (!snapshots.data) return <Loading query={snapshots} />
  if (snapshots.data.length === 0) return <p className="faint sm">{t('noDraftSnapshots')}</p>
  return (
    <ul className={workshopStyles.versions}>
      {snapshots.data.map(snapshot => (
        <li key={snapshot.id}>
          <Collapsible head={<SnapshotHead snapshot={snapshot} />} state={t(`earlier.${snapshot.reason}`)}>
            <div className={workshopStyles.snapshot}>
              <RestorableText content={snapshot.written} workshop={workshop} onDone={() => onOpenChange(false)} />
            </div>
          </Collapsible>
        </li>
      ))}
    </ul>
  )
}

const SnapshotHead = ({ snapshot: { author, created_at } }: { snapshot: DraftSnapshotRow }) => (
  <>
    <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} />
    <b className="cut">{author.name}</b>
    <time className="muted" dateTime={created_at} title={formatFullTime(created_at)}>
      {formatShortDate(created_at)} {formatTime(created_at)}
    </time>
  </>
)
