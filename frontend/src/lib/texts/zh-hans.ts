import accounts from './zh-hans/accounts'
import errors from './zh-hans/errors'
import screens from './zh-hans/screens'

export default { ...screens, ...accounts, ...errors }
