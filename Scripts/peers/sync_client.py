"""A client of spaces in plain Python, written from docs/formats.md only, for teams whose servers write rows that devices show.

    sync_client.py URL SPACE rows                        prints the live rows, one JSON object a line
    sync_client.py URL SPACE set TABLE ROW '{"a":"x"}'   inserts or updates a row, and prints the verdict
    sync_client.py URL SPACE delete TABLE ROW            deletes a row, and prints the verdict
    sync_client.py URL SPACE check                       exits with 1 unless the rows by the snapshot and by the log are equal

URL is the path of the spaces, such as http://127.0.0.1:8080/sync; SPACE and ROW are UUIDs in lower case. It has no file: each run reads the
snapshot as a new device, whereas a client that goes on stores its rows, its cursor and the end of its chain. SYNC_TOKEN is its bearer token.
"""

import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

NOTHING = {"epoch": str(uuid.UUID(int=0)), "number": 0, "tag": "0" * 16}


def new_id():
    """Returns a UUID of version 7."""
    bits = int(time.time() * 1000) << 80 | secrets.randbits(80)
    return str(uuid.UUID(int=bits & ~(0xF << 76 | 0x3 << 62) | 0x7 << 76 | 0x2 << 62))


class SyncError(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('error', '')}")
        self.status, self.name = status, body.get("error")


class SyncClient:
    """One device in one space. `rows` maps (table, row) to {"life", "number", "values"}; rows of even lives are deleted."""

    def __init__(self, url, space, token="server"):
        self.base, self.token = f"{url.rstrip('/')}/{space}/", token
        self.device, self.chain, self.clock = new_id(), (0, None), 0
        self.rows, self.cursor, self.digest = {}, dict(NOTHING), None

    def request(self, name, body=None, **query):
        """Sends a request, again while the server can't be reached or asks for time: each may be repeated as it is."""
        url = self.base + name + ("?" + urllib.parse.urlencode(query) if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.token}
        for attempt in range(20):
            try:
                with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=30) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                problem = json.loads(error.read() or b"{}")
                if error.code not in (429, 503):
                    raise SyncError(error.code, problem) from None
                time.sleep(problem.get("milliseconds", 1000) / 1000)
            except OSError:
                time.sleep(min(0.1 * 2**attempt, 4))
        raise SyncError(503, {"error": "unreachable"})

    def snapshot(self):
        """Reads all rows page by page, and then the log from the head at which the first page was made."""
        rows, request, start = {}, {"device": self.device, "schema": 1}, None
        while True:
            page = self.request("snapshot", request)
            for row in page["rows"]:
                values = {name: value for cells in row.get("cells", []) for name, value in cells[4].items()}
                rows[tuple(row["key"])] = {"life": row["life"], "number": row["number"], "values": values}
                self.receive(row)
            # A row may be newer than the first page: the server has to have the history of the last one still.
            start, request["start"] = start or page["start"], page["head"]
            if not page.get("more"):
                break
            request["after"] = page["rows"][-1]["key"]
        self.rows, self.cursor = rows, start
        self.pull()

    def pull(self, on_entry=lambda entry: None):
        """Applies the log after the cursor; reads a snapshot if the log does not reach back to it, or is another one."""
        parts, head = [], None
        while head is None or self.cursor["number"] < head:
            offset = sum(len(part["changes"]) for part in parts)
            try:
                page = self.request("pull", device=self.device, offset=offset, schema=1, **self.cursor)
            except SyncError as error:
                if error.status != 410:
                    raise
                return self.snapshot()
            head = page["head"] if head is None else head
            for part in page["parts"]:
                parts.append(part)
                if part.get("more"):
                    continue
                entry, parts = {**part, "changes": [change for part in parts for change in part["changes"]]}, []
                for change in entry["changes"]:
                    self.apply(change, entry["number"])
                self.cursor = {"epoch": page["epoch"], "number": entry["number"], "tag": entry["tag"]}
                on_entry(entry)
            if self.cursor["number"] == page["head"]:
                self.digest = page["digest"]

    def apply(self, change, number):
        """Applies a decided change. A new life begins without columns."""
        row = self.rows.setdefault(tuple(change["key"]), {"life": 0, "number": 0, "values": {}})
        self.receive(change)
        if number <= row["number"] or change["life"] < row["life"]:
            return
        if change["life"] > row["life"]:
            row["values"] = {}
        row["life"], row["number"] = change["life"], number
        for cells in change.get("cells", []):
            row["values"].update(cells[4])

    def receive(self, change):
        self.clock = max([self.clock] + [int(cells[1], 16) for cells in change.get("cells", [])])

    def write(self, changes):
        """Writes rows in one transaction, [(table, row, values, or None to delete)], and returns the verdict.

        The rows are to be as new as the user's view of them: a value that was pulled is overwritten, a newer one may win.
        """
        operations = []
        for table, row, values in changes:
            life = self.rows.get((table, row), {"life": 0})["life"]
            if values is None:
                operation = {"delete": [table, row], "life": life + 2 - life % 2}
            elif life % 2:
                operation = {"update": [table, row], "life": life, "values": values}
            else:
                operation = {"insert": [table, row], "life": life + 1, "values": values}
            operations.append({"id": new_id(), **operation})
        self.clock = max(self.clock + 1, int(time.time() * 1000) << 16)
        basis = {"epoch": self.cursor["epoch"], "number": self.cursor["number"]}
        while True:
            number, previous = self.chain
            transaction = {"number": number + 1, "time": f"{self.clock:016x}", "basis": basis, "operations": operations}
            if previous:
                transaction["previous"] = previous
            try:
                response = self.request("push", {"device": self.device, "transactions": [transaction], "schema": 1})
                break
            except SyncError as error:
                if error.status != 409:
                    raise
                # The server lost, or never had, the chain of this device. The ids of the operations make them safe to send again.
                self.device, self.chain = new_id(), (0, None)
        self.chain = (number + len(operations), operations[-1]["id"])
        self.pull()
        return response["verdicts"][0]

    def live(self):
        """Returns the rows that exist, by (table, row)."""
        return {key: row["values"] for key, row in sorted(self.rows.items()) if row["life"] % 2}


def digest(rows):
    """Returns the digest of rows, as `digest` of the client: the sum of a hash of each row."""
    mask, total = 2**64 - 1, 0
    for (table, row), content in rows.items():
        if content["life"] == 0:
            continue
        text = lambda value: len(value.encode()).to_bytes(8, "big") + value.encode()
        data = text(table) + uuid.UUID(row).bytes + content["life"].to_bytes(8, "big")
        for name, value in sorted(content["values"].items(), key=lambda item: item[0].encode()):
            data += text(name)
            if value is None:
                data += b"\0"
            elif isinstance(value, int):
                data += b"\1" + value.to_bytes(8, "big", signed=True)
            elif isinstance(value, str):
                data += b"\3" + text(value)
            else:
                raise ValueError("this client computes digests of texts, integers and null only")
        state = 0xCBF29CE484222325
        for byte in data:
            state = (state ^ byte) * 0x100000001B3 & mask
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            state = (state ^ state >> 33) * factor & mask
        total = total + (state ^ state >> 33) & mask
    return f"{total:016x}"


def main(url, space, command, *arguments):
    client = SyncClient(url, space, os.environ.get("SYNC_TOKEN", "server"))
    client.snapshot()
    if command == "rows":
        for (table, row), values in client.live().items():
            print(json.dumps({"table": table, "row": row, "values": values}, ensure_ascii=False))
    elif command == "set":
        print(json.dumps(client.write([(arguments[0], arguments[1], json.loads(arguments[2]))])))
    elif command == "delete":
        print(json.dumps(client.write([(arguments[0], arguments[1], None)])))
    elif command == "check":
        other = SyncClient(url, space, client.token)
        other.pull()
        equal = other.rows == client.rows and digest(client.rows) == client.digest
        print(f"{len(client.live())} rows by the snapshot, {len(other.live())} by the log: {'equal' if equal else 'different'}")
        sys.exit(0 if equal else 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else sys.exit(__doc__)
