"""Serves a folder on the loopback, and writes the numbers of requests and of bytes of bodies to a file after each request.

Arguments: the folder, the file for the numbers. Prints the URL.
"""
import http.server
import os
import sys
import threading

folder, counts = sys.argv[1], sys.argv[2]
lock = threading.Lock()
total = [0, 0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A body must not wait until the client has confirmed the header.
    disable_nagle_algorithm = True

    def do_GET(self):
        path = os.path.join(folder, self.path.lstrip("/"))
        body, status = b"", 404
        if os.path.isfile(path):
            with open(path, "rb") as file:
                body, status = file.read(), 200
        with lock:
            total[0] += 1
            total[1] += len(body)
            with open(counts + ".new", "w") as file:
                file.write(f"{total[0]} {total[1]}")
            os.replace(counts + ".new", counts)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
