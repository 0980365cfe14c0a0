"""How moments are written where Django writes them: in the admin."""
