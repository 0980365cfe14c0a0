"""The threads on which this process's sockets do their database work."""

from django.conf import settings

from common.sections import Sections

section = Sections(settings.LIVE_THREADS, "live")
