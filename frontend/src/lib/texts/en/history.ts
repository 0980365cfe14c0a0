/** The texts of versions, their differences and files, in English. The other languages have the same keys. */
const history = {}

export default history
