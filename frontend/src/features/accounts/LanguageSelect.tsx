import { Languages } from 'lucide-react'
import { choose, currentLanguage, type Language, languageNames, languages, useTexts } from '@/lib/language'

/** The language of the screen; changes at once. */
export function LanguageSelect({ onChosen }: { onChosen?(language: Language): void }) {
  const { t } = useTexts()
  const pick = async (language: Language) => {
    await choose(language)
    onChosen?.(language)
  }
  return (
    <label className="select langselect">
      <Languages className="i s" aria-hidden />
      <span className="sr">{t('language')}</span>
      <select value={currentLanguage()} onChange={event => void pick(event.target.value as Language)}>
        {languages.map(language => (
          <option key={language} value={language} lang={language}>
            {languageNames[language]}
          </option>
        ))}
      </select>
    </label>
  )
}
