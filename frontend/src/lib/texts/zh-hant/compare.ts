/** The texts of comparing production and draft, in Traditional Chinese. */
const compare = {}

export default compare
