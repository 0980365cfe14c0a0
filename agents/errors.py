"""What can go wrong in this app alone."""


class LeaseLost(Exception):
    """The run was taken over, or has ended: whoever finds this out stops at once, and nothing is written (B3)."""
