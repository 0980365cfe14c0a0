import { type DraftRow, type EarlierTextRow, useEarlierTexts } from '@/api'
import { textOfError } from '@/lib/errors'
import { useTexts } from '@/lib/language'
import { clock, fullTime, shortDate } from '@/lib/time'
import { Button } from '@/ui/Button'
import { Dialog } from '@/ui/Dialog'
import { Face } from '@/ui/Face'
import { Fold } from '@/ui/Fold'
import { Skeleton } from '@/ui/Skeleton'
import { writtenIn } from '../content'
import { MyText } from './LostBanner'
import type { Workshop } from './session'

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
      className="wide"
    >
      <List {...props} />
    </Dialog>
  )
}

function List({ chatId, draft, workshop, onOpenChange }: EarlierTextsProps) {
  const { t } = useTexts()
  const earlier = useEarlierTexts(chatId, draft)
  if (earlier.error) {
    return (
      <div className="banner bad" role="alert">
        <span className="grow">{textOfError(earlier.error)}</span>
        <Button size="xs" onClick={() => void earlier.refetch()}>
          {t('tryAgain')}
        </Button>
      </div>
    )
  }
  if (!earlier.data) return <Skeleton lines={4} label={t('loading')} />
  if (earlier.data.length === 0) return <p className="faint sm">{t('noEarlierTexts')}</p>
  return (
    <ul className="versions">
      {earlier.data.map(text => (
        <li key={text.id}>
          <Fold head={<Head text={text} />} state={t(`earlier.${text.why}`)}>
            <div className="earlier">
              <MyText content={writtenIn(text)} workshop={workshop} onDone={() => onOpenChange(false)} />
            </div>
          </Fold>
        </li>
      ))}
    </ul>
  )
}

const Head = ({ text: { author, created_at } }: { text: EarlierTextRow }) => (
  <>
    <Face id={author.id} name={author.name} square={author.kind === 'agent'} />
    <b className="cut">{author.name}</b>
    <time className="muted" dateTime={created_at} title={fullTime(created_at)}>
      {shortDate(created_at)} {clock(created_at)}
    </time>
  </>
)
