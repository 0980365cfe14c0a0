/** The texts of comparing production and draft, in Simplified Chinese. */
const compare = {}

export default compare
