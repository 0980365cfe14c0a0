/** The texts of comparing production and draft, in English. The other languages have the same keys. */
const compare = {}

export default compare
