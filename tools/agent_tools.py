"""The tools that belong to no other app."""

from tools.current_time.tool import CurrentTime

__all__ = ["CurrentTime"]
