"""The demo model: rules instead of a mind, so that the rooms live without a key. Offline, and labelled as what it is."""
