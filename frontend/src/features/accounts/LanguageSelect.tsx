import { Languages } from 'lucide-react'
import { cx } from '@/lib/cx'
import { getErrorText } from '@/lib/errors'
import { currentLanguage, type Language, languageNames, languages, setLanguage, useTexts } from '@/lib/language'
import fieldStyles from '@/ui/Field.module.css'
import { showToast } from '@/ui/toast'

/** The choice of the display language, which changes at once. */
export function LanguageSelect({ onChosen }: { onChosen?(language: Language): void }) {
  const { t } = useTexts()
  const pick = async (language: Language) => {
    try {
      await setLanguage(language)
      onChosen?.(language)
    } catch (error) {
      showToast(getErrorText(error))
    }
  }
  return (
    <label className={cx(fieldStyles.select, fieldStyles.langselect)}>
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
