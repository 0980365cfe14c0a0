"""The tool that kills."""

import os
import signal
from typing import Literal

from tools.interface import Tool, ToolArgs, ToolContext
from tools.registry import register


@register
class Poison(Tool):
    """End this process."""

    name = "poison"
    # Repeatable, so that whoever takes over dies of it, too.
    effect = "read"

    class Args(ToolArgs):
        how: Literal["memory", "segfault", "exit"]

    def run(self, ctx: ToolContext, args: Args) -> str:
        hoard = []
        while args.how == "memory":
            hoard.append(bytearray(64 * 1024 * 1024))
        if args.how == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(1)
