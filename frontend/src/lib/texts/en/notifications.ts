/** The texts of the bell, in English. The other languages have the same keys. */
const notifications = {}

export default notifications
