/** The texts of suggestions and merges, in Traditional Chinese. */
const suggestions = {}

export default suggestions
