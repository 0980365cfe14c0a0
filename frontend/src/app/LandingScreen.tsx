import { Link } from '@tanstack/react-router'
import { LanguageSelect } from '@/features/accounts'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { useTexts } from '@/lib/language'
import { usePageTitle } from '@/lib/title'
import { Avatar } from '@/ui/Avatar'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import { Logo } from '@/ui/Logo'
import landingStyles from './Landing.module.css'

/** The page for visitors who are not signed in: a slogan, an illustration, and links to sign up and sign in. */
export function LandingScreen() {
  const { t } = useTexts()
  usePageTitle(undefined)
  return (
    <div className={landingStyles.landing}>
      <header>
        <Logo />
        <span className="row">
          <LanguageSelect />
          <Link className={buttonStyles.btn} to="/sign-in">
            {t('signIn')}
          </Link>
        </span>
      </header>
      <main>
        <div className={landingStyles.intro}>
          <h1>{t('landing.title')}</h1>
          <p className="muted">{t('landing.lead')}</p>
          <p className="row wrap">
            <Link className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)} to="/sign-up">
              {t('signUp')}
            </Link>
            <Link className={cx(buttonStyles.btn, buttonStyles.lg)} to="/sign-in">
              {t('haveAccountSignIn')}
            </Link>
          </p>
        </div>
        <Illustration />
      </main>
    </div>
  )
}

const planner = { id: 'planner', avatar: { kind: 'emoji', emoji: '🧭' } as const, square: true }
const bob = { id: 'bob', avatar: { kind: 'letter', letter: 'B', color: 5 } as const, square: false }

/** The illustration: a chat in which an agent is improved. It shows a reply, the change to the prompt, and the reply after it. */
function Illustration() {
  const { t } = useTexts()
  const name = t('landing.agent')
  return (
    <figure className={landingStyles.picture} role="img" aria-label={t('landing.picture')}>
      <div className={landingStyles.chat} aria-hidden>
        <SampleMessage face={{ ...bob, name: 'Bob' }} text={t('landing.question')} />
        <SampleMessage face={{ ...planner, name }} text={t('landing.before')} layer="production" stamp="v6" />
        <p className={landingStyles.applied}>
          <LayerIcon layer="applied" /> {t('sys.applied', { actor: 'Bob', apply: 'r1', target: name })}
        </p>
        <SampleMessage
          face={{ ...planner, name }}
          text={t('landing.after')}
          layer="applied"
          stamp={t('draftStamp', { n: 1, name: 'Bob' })}
        />
      </div>
      <div className={landingStyles.workshop} aria-hidden>
        <p className={landingStyles.cells}>
          <span>
            <LayerIcon layer="production" /> v6
          </span>
          <span data-layer="applied">
            <LayerIcon layer="applied" /> r1 Bob
          </span>
        </p>
        <pre>
          {t('landing.prompt')}
          {'\n'}
          <ins>{t('landing.added')}</ins>
        </pre>
        <p className="end">
          <span className={cx(buttonStyles.btn, buttonStyles.amber)}>{t('applyHere')}</span>
          <span className={cx(buttonStyles.btn, buttonStyles.ink)}>{t('saveAs', { version: 'v7' })}</span>
        </p>
      </div>
    </figure>
  )
}

interface SampleMessageProps {
  face: Pick<Parameters<typeof Avatar>[0], 'id' | 'name' | 'avatar' | 'square'>
  text: string
  layer?: 'production' | 'applied'
  stamp?: string
}

const SampleMessage = ({ face, text, layer, stamp }: SampleMessageProps) => (
  <div className={landingStyles.line}>
    <Avatar {...face} size="l" />
    <div>
      <b>{face.name}</b>
      <p>{text}</p>
      {layer ? (
        <span className={cx(blocks.tag, landingStyles.stamp)} data-layer={layer}>
          <LayerIcon layer={layer} />
          {stamp}
        </span>
      ) : null}
    </div>
  </div>
)
