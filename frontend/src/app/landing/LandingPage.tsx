import { Languages } from 'lucide-react'
import { LayerIcon } from '@/features/layers'
import { cx } from '@/lib/cx'
import { currentLanguage, languageNames, languages, useTexts } from '@/lib/language'
import { Avatar } from '@/ui/Avatar'
import buttonStyles from '@/ui/Button.module.css'
import blocks from '@/ui/blocks.module.css'
import fieldStyles from '@/ui/Field.module.css'
import { Logo } from '@/ui/Logo'
import landingStyles from './Landing.module.css'

/** The page for visitors who are not signed in, in one language: a slogan, an illustration, and links to sign up and sign in. */
export function LandingPage() {
  const { t, language } = useTexts()
  return (
    <div className={landingStyles.landing} lang={language}>
      <header>
        <Logo />
        <span className="row">
          <LanguageSelect />
          <a className={buttonStyles.btn} href="/sign-in">
            {t('signIn')}
          </a>
        </span>
      </header>
      <main>
        <div className={landingStyles.intro}>
          <h1>{t('landing.title')}</h1>
          <p className="muted">{t('landing.lead')}</p>
          <p className="row wrap">
            <a className={cx(buttonStyles.btn, buttonStyles.ink, buttonStyles.lg)} href="/sign-up">
              {t('signUp')}
            </a>
            <a className={cx(buttonStyles.btn, buttonStyles.lg)} href="/sign-in">
              {t('haveAccountSignIn')}
            </a>
          </p>
        </div>
        <Illustration />
      </main>
    </div>
  )
}

/** The choice of the language, which `public/landing.js` reads. */
function LanguageSelect() {
  const { t } = useTexts()
  return (
    <label className={cx(fieldStyles.select, fieldStyles.langselect)}>
      <Languages className="i s" aria-hidden />
      <span className="sr">{t('language')}</span>
      <select defaultValue={currentLanguage()} autoComplete="off">
        {languages.map(language => (
          <option key={language} value={language} lang={language}>
            {languageNames[language]}
          </option>
        ))}
      </select>
    </label>
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
