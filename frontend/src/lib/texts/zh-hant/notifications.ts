/** The texts of the bell, in Traditional Chinese. */
const notifications = {}

export default notifications
