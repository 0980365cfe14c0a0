/** The texts of versions, their differences and files, in Simplified Chinese. */
const history = {}

export default history
