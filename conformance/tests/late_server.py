"""A server whose every answer is late: another server behind a wire that holds each answer back.

python late_server.py SECONDS PORT COMMAND ... {inner} ...

The command is started with a free port for {inner}. What a client sends, and that it hangs up, goes
through at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def serve(late_s: float, port: int, command: list[str]) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        inner = probe.getsockname()[1]
    child = await asyncio.create_subprocess_exec(
        *[word.replace("{inner}", str(inner)) for word in command]
    )
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, ended.set)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            there, to = await asyncio.open_connection("127.0.0.1", inner)
            try:
                asked = asyncio.create_task(pump(reader, to))
                # The first bytes of an answer are held back; the suite has a connection for each.
                if first := await there.read(65536):
                    await asyncio.wait([asked], timeout=late_s)
                    if not asked.done():
                        writer.write(first)
                        told = asyncio.create_task(pump(there, writer))
                        await asyncio.wait([asked, told], return_when=asyncio.FIRST_COMPLETED)
                        told.cancel()
                asked.cancel()
                await asyncio.gather(asked, return_exceptions=True)
            finally:
                to.close()
        writer.close()

    while child.returncode is None and not ended.is_set():
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", inner)
            writer.close()
            break
        except OSError:
            await asyncio.sleep(0.02)
    server = await asyncio.start_server(answer, "127.0.0.1", port)
    waits = [asyncio.create_task(ended.wait()), asyncio.create_task(child.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    server.close()
    if child.returncode is None:
        child.terminate()
        await child.wait()
    sys.exit(child.returncode)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
