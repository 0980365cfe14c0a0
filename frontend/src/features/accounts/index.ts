export { AccountForm } from './AccountForm'
export { LanguageSelect } from './LanguageSelect'
export { Profile } from './Profile'
