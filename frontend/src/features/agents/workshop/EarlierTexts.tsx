import { type DraftRow, type DraftSnapshotRow, useEarlierTexts } from '@/api'
import { useTexts } from '@/lib/language'
import { clock, fullTime, shortDate } from '@/lib/time'
import { Avatar } from '@/ui/Avatar'
import { Collapsible } from '@/ui/Collapsible'
import { Dialog } from '@/ui/Dialog'
import dialogStyles from '@/ui/Dialog.module.css'
import { Loading } from '@/ui/Loading'
import type { Workshop } from './draftSession'
import { MyText } from './LostBanner'
import workshopStyles from './Workshop.module.css'

interface EarlierTextsProps {
  chatId: string
  draft: DraftRow
  workshop: Workshop
  open: boolean
  onOpenChange(open: boolean): void
}

/** What this draft said before somebody else's text took its place: to read, to copy, to put back. */
export function EarlierTexts(props: EarlierTextsProps) {
  const { t } = useTexts()
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title={t('earlierTexts')}
      description={t('earlierHint')}
      className={dialogStyles.wide}
    >
      <List {...props} />
    </Dialog>
  )
}

function List({ chatId, draft, workshop, onOpenChange }: EarlierTextsProps) {
  const { t } = useTexts()
  const earlier = useEarlierTexts(chatId, draft)
  if (!earlier.data) return <Loading query={earlier} />
  if (earlier.data.length === 0) return <p className="faint sm">{t('noEarlierTexts')}</p>
  return (
    <ul className={workshopStyles.versions}>
      {earlier.data.map(text => (
        <li key={text.id}>
          <Collapsible head={<Head text={text} />} state={t(`earlier.${text.why}`)}>
            <div className={workshopStyles.earlier}>
              <MyText content={text.written} workshop={workshop} onDone={() => onOpenChange(false)} />
            </div>
          </Collapsible>
        </li>
      ))}
    </ul>
  )
}

const Head = ({ text: { author, created_at } }: { text: DraftSnapshotRow }) => (
  <>
    <Avatar id={author.id} name={author.name} avatar={author.avatar} square={author.kind === 'agent'} />
    <b className="cut">{author.name}</b>
    <time className="muted" dateTime={created_at} title={fullTime(created_at)}>
      {shortDate(created_at)} {clock(created_at)}
    </time>
  </>
)
