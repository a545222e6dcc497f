"""400 posts of 1 MiB less one byte, whose last byte never comes."""

import os
import socket
import tempfile
import threading
import time

from servers import Claims, Server, until

claims = Claims("slow-bodies")
COUNT = 400
HEAD = "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"


def connections(server):
    """The sockets of the server. Files that it opens do not count."""
    folder, count = f"/proc/{server.process.pid}/fd", 0
    for name in os.listdir(folder):
        try:
            count += os.readlink(os.path.join(folder, name)).startswith("socket:")
        except OSError:
            pass
    return count


def hold(server, sockets):
    connection = socket.create_connection((server.host, server.port), timeout=60)
    sockets.append(connection)
    try:
        connection.sendall(HEAD.format(server.path, 1 << 20).encode() + b" " * ((1 << 20) - 1))
    except OSError:
        pass


with tempfile.TemporaryDirectory() as folder:
    with Server("serve", "--log", os.path.join(folder, "actions.sqlite"), "--plain") as server:
        before, held, sockets = server.memory(), connections(server), []
        start = time.monotonic()
        threads = [threading.Thread(target=hold, args=(server, sockets), daemon=True) for _ in range(COUNT)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        claims.note(f"{COUNT} posts of 1 MiB less one byte: {connections(server) - held} connections are open")
        status, _, _ = server.request("GET", "/nothing")
        claims.check("another client gets its response", status == 404)
        # The last ones have begun late: sending them takes the client a while.
        ended = until(lambda: connections(server) <= held, 120)
        claims.note(
            f"after {time.monotonic() - start:.0f} s: {connections(server) - held} connections, "
            f"memory from {before:.0f} to {server.memory():.0f} MiB, at most {server.peak_memory():.0f} MiB")
        claims.check("they hold less than 250 MiB", server.peak_memory() < 250)
        claims.check("all are closed", ended)
        start = time.monotonic()
        status, _, _ = server.request("POST", server.path, b"{}")
        claims.check("a post is answered at once then", status == 400 and time.monotonic() - start < 2)
        for connection in sockets:
            connection.close()
claims.end()
