"""Starts the servers that the attacks of this folder are tried on, and measures them."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

RUNWAY = os.environ.get("RUNWAY", ".build/debug/runway")


class FinalResponse(http.client.HTTPResponse):
    """Reads past interim responses (RFC 9110 §15.2), as those of resumable uploads: http.client knows 100 alone."""

    def _read_status(self):
        while True:
            version, status, reason = super()._read_status()
            if not 102 <= status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


class Server:
    """A server of the command, which prints the URL that it serves, or another program with a URL that is known."""

    def __init__(self, *arguments, program=RUNWAY, url=None):
        self.process = subprocess.Popen(
            [program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = []
        found = threading.Event()

        def read():
            for line in self.process.stdout:
                self.lines.append(line)
                if match := re.search(r"https?://[^\s]+", line):
                    if not found.is_set():
                        self.url = match.group(0)
                        found.set()

        threading.Thread(target=read, daemon=True).start()
        if url:
            self.url = url
            address = urllib.parse.urlsplit(url)
            if until(lambda: accepts(address.hostname, address.port)):
                found.set()
        if not found.wait(0 if url else 60):
            self.stop()
            raise RuntimeError("the server does not start: " + "".join(self.lines))
        parts = urllib.parse.urlsplit(self.url)
        self.host, self.port, self.path = parts.hostname, parts.port, parts.path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def memory(self):
        """The resident memory in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024

    def peak_memory(self):
        """The most resident memory so far in MiB."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def request(self, method, path, body=b"", headers=None, source="127.0.0.1", timeout=60):
        """Sends a request from an address of this machine, and returns the status, the fields and the body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout, source_address=(source, 0))
        connection.response_class = FinalResponse
        try:
            fields = {"Content-Type": "application/json", **(headers or {})}
            connection.request(method, path, body=body, headers=fields)
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()


class Claims:
    """What an attack must not achieve. The exit code of the attack is 1 if one of them does not hold."""

    def __init__(self, name):
        self.name, self.failed = name, False

    def check(self, claim, holds):
        if not holds:
            self.failed = True
        print(f"{self.name}: {'held' if holds else 'FAILED'}: {claim}", flush=True)

    def note(self, text):
        print(f"{self.name}: {text}", flush=True)

    def end(self):
        sys.exit(1 if self.failed else 0)


def reason(body):
    """The reason of a problem, such as `quota` of `urn:runway:log:quota`."""
    try:
        return json.loads(body).get("type", "").rsplit(":", 1)[-1]
    except ValueError:
        return ""


def accepts(host, port):
    """Whether a port takes connections."""
    with socket.socket() as client:
        return client.connect_ex((host, port)) == 0


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False
