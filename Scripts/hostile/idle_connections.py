"""Connections that send nothing: more than there may be, and with no descriptors left."""

import os
import socket
import tempfile
import time

from servers import Claims, RUNWAY, Server, until

claims = Claims("idle-connections")


def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connect(server, count):
    sockets = []
    for _ in range(count):
        connection = socket.socket()
        connection.settimeout(2)
        try:
            connection.connect((server.host, server.port))
        except OSError:
            connection.close()
            break
        sockets.append(connection)
    return sockets


with tempfile.TemporaryDirectory() as folder:
    place = os.path.join(folder, "actions.sqlite")
    with Server("serve", "--log", place, "--plain") as server:
        held = server.descriptors()
        sockets = connect(server, 1300)
        time.sleep(2)
        count = server.descriptors() - held
        claims.note(f"of 1300 connections {count} are open")
        claims.check("at most 1000 are open", count <= 1000)
        start = time.monotonic()
        ended = until(lambda: server.descriptors() <= held, 90)
        claims.note(f"after {time.monotonic() - start:.0f} s: {server.descriptors() - held} connections")
        claims.check("idle ones are closed after a minute", ended)
        for connection in sockets:
            connection.close()
    # The limit is taken away from a server that counted on more.
    shell = f'"$@" & pid=$!; trap "kill -INT $pid" INT TERM; sleep 2; prlimit --pid $pid --nofile=40; wait $pid; wait $pid'
    for name, arguments in [
        ("with 64 descriptors", ["-c", 'ulimit -n 64; exec "$@"']),
        ("whose descriptors are taken away", ["-c", shell]),
    ]:
        with Server(*arguments, "bash", RUNWAY, "serve", "--log", place, "--plain", program="bash") as server:
            if "taken" in name:
                time.sleep(3)
                with open(f"/proc/{server.process.pid}/task/{server.process.pid}/children") as file:
                    pid = int(file.read().split()[0])
                server.process, shell_process = type("Process", (), {"pid": pid})(), server.process
            sockets = connect(server, 150)
            time.sleep(1)
            start = processor_seconds(server)
            time.sleep(5)
            used = processor_seconds(server) - start
            claims.note(f"a server {name}: {server.descriptors()} descriptors, {used:.2f} s of processor time in 5 s")
            claims.check(f"a server {name} rests", used < 0.5)
            for connection in sockets:
                connection.close()
            time.sleep(2)
            claims.check(f"a server {name} serves later", server.request("GET", "/nothing")[0] == 404)
            if "taken" in name:
                server.process = shell_process
claims.end()
