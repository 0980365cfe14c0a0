import accounts from './en/accounts'
import errors from './en/errors'
import screens from './en/screens'

export default { ...screens, ...accounts, ...errors }
