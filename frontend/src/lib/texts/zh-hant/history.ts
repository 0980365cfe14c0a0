/** The texts of versions, their differences and files, in Traditional Chinese. */
const history = {}

export default history
