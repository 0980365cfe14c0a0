export { Bell } from './components/Bell'
export { Rising } from './components/Rising'
