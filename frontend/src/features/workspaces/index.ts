export { General } from './General'
export { Members } from './Members'
export { ModelForm } from './ModelForm'
export { NameForm } from './NameForm'
