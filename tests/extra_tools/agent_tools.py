"""Tools for tests: one that kills its process, and two that send orders to a server."""

import asyncio
import os
import signal
from typing import Literal

from tools.interface import Tool, ToolArgs, ToolContext
from tools.registry import register


@register
class CrashProcess(Tool):
    """End this process."""

    name = "crash_process"
    # Repeatable, so that it also ends the process of the next attempt.
    effect = "read"

    class Args(ToolArgs):
        how: Literal["memory", "segfault", "exit"]

    def run(self, ctx: ToolContext, args: Args) -> str:
        blocks = []
        while args.how == "memory":
            # Reserved and not written: the limit is reached at once, before a lease of the tests expires.
            blocks.append(bytes(64 * 1024 * 1024))
        if args.how == "segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        os._exit(1)


class Order(Tool):
    """Order something from a server outside."""

    effect = "write"

    class Args(ToolArgs):
        port: int

    async def run(self, ctx: ToolContext, args: Args) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", args.port)
        try:
            writer.write(ctx.call_id.encode() + b"\n")
            return (await reader.readline()).decode()
        finally:
            writer.close()


@register
class OrderOnce(Order):
    """Order something; the server would do it twice."""

    name = "order_once"


@register
class OrderByKey(Order):
    """Order something; the server knows a repetition by its key."""

    name = "order_by_key"
    is_idempotent = True
