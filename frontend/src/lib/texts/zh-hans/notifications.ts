/** The texts of the bell, in Simplified Chinese. */
const notifications = {}

export default notifications
