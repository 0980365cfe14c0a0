import accounts from './zh-hant/accounts'
import errors from './zh-hant/errors'
import screens from './zh-hant/screens'

export default { ...screens, ...accounts, ...errors }
