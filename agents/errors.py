"""What can go wrong in this app alone."""

from dataclasses import dataclass


class LeaseLost(Exception):
    """The run was taken over, or has ended: whoever finds this out stops at once, and nothing is written (B3)."""


@dataclass
class CannotGoOn(Exception):
    """A run that may not work any more, and why: a code that the web app has a text for, and one English sentence."""

    code: str
    text: str
