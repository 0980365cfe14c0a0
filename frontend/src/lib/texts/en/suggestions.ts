/** The texts of suggestions and merges, in English. The other languages have the same keys. */
const suggestions = {}

export default suggestions
