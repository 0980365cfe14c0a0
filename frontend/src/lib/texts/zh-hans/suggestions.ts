/** The texts of suggestions and merges, in Simplified Chinese. */
const suggestions = {}

export default suggestions
