"""The threads on which this process's sockets do their database work."""

from common.sections import Sections

section = Sections(4, "live")
