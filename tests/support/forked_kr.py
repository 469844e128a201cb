"""Hands this process's streams, folder and environment to a fork server, which runs `kr` with them; ends as `kr` does."""

import json
import os
import signal
import socket
import sys


def main() -> None:
    _script, address, *arguments = sys.argv
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.connect(address)
    asked = {"arguments": arguments, "cwd": os.getcwd(), "environ": dict(os.environ), "most_bytes": -1}
    reading, writing = os.pipe()
    socket.send_fds(server, [b"run"], [0, 1, 2, reading])
    os.close(reading)
    with os.fdopen(writing, "wb") as call:
        call.write(json.dumps(asked).encode())
    program = int(server.recv(1000))
    for stream in (0, 1, 2):  # a pipe is at its end when the program has closed it
        os.close(stream)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: os.kill(program, number))
    code = int(server.recv(1000).split()[0])
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
