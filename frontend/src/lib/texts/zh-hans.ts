import errors from './zh-hans/errors'
import screens from './zh-hans/screens'

export default { ...screens, ...errors }
