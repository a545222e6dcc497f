"""A client of spaces in plain Python, written from docs/formats.md only, for teams whose servers write rows that devices show.

    sync_client.py URL SPACE rows                        prints the live rows, one JSON object a line
    sync_client.py URL SPACE set TABLE ROW '{"a":"x"}'   inserts or updates a row, and prints the verdict
    sync_client.py URL SPACE delete TABLE ROW            deletes a row, and prints the verdict
    sync_client.py URL SPACE check                       exits with 1 unless the rows by the snapshot and by the log are equal

URL is the path of the spaces, such as http://127.0.0.1:8080/sync; SPACE and ROW are UUIDs in lower case. It has no file: each run reads the
snapshot as a new device, whereas a client that goes on stores its rows, its cursor and the end of its chain. SYNC_TOKEN is its bearer token.
"""

import json, os, secrets, sys, time, urllib.error, urllib.parse, urllib.request, uuid  # noqa: E401


def new_id():
    """Returns a UUID of version 7."""
    bits = int(time.time() * 1000) << 80 | secrets.randbits(80)
    return str(uuid.UUID(int=bits & ~(0xF << 76 | 0x3 << 62) | 0x7 << 76 | 0x2 << 62))


class SyncError(Exception):
    pass


class SyncClient:
    """One device in one space. `rows` maps (table, row) to {"life", "number", "values"}; rows of even lives are deleted."""

    def __init__(self, url, space, token="server"):
        self.base, self.token, self.device = f"{url.rstrip('/')}/{space}/", token, new_id()
        self.chain, self.clock, self.rows, self.digest = (0, None), 0, {}, None
        self.cursor = {"epoch": str(uuid.UUID(int=0)), "number": 0, "tag": "0" * 16}

    def request(self, name, body=None, **query):
        """Sends a request, again while the server can't be reached or asks for time: each may be repeated as it is."""
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self.token}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.base}{name}?{urllib.parse.urlencode(query)}", data, headers)
        for attempt in range(20):
            try:
                return json.load(urllib.request.urlopen(request, timeout=30))
            except urllib.error.HTTPError as error:
                problem = json.loads(error.read() or b"{}")
                if error.code not in (429, 503):
                    raise SyncError(error.code, problem.get("error")) from None
                time.sleep(problem.get("milliseconds", 1000) / 1000)
            except OSError:
                time.sleep(min(0.1 * 2**attempt, 4))
        raise SyncError(503, "unreachable")

    def snapshot(self):
        """Reads all rows page by page, and then the log from the head at which the first page was made."""
        self.rows, request, page = {}, {"device": self.device, "schema": 1}, {"more": True}
        while page.get("more"):
            page = self.request("snapshot", request)
            for row in page["rows"]:
                self.apply(row, row["number"])
                request["after"] = row["key"]
            request["start"] = page["start"]
        self.cursor = page["start"]
        self.pull()

    def pull(self, on_entry=lambda entry: None):
        """Applies the log after the cursor; reads a snapshot if the log does not reach back to it, or is another one."""
        changes, head = [], None
        while head is None or self.cursor["number"] < head:
            try:
                page = self.request("pull", device=self.device, offset=len(changes), schema=1, **self.cursor)
            except SyncError as error:
                if error.args[0] != 410:
                    raise
                return self.snapshot()
            head = page["head"] if head is None else head
            for part in page["parts"]:
                changes += part["changes"]
                if part.get("more"):  # An entry is applied when its last part has come.
                    continue
                for change in changes:
                    self.apply(change, part["number"])
                self.cursor = {"epoch": page["epoch"], "number": part["number"], "tag": part["tag"]}
                on_entry({**part, "changes": changes})
                changes = []
            if self.cursor["number"] == page["head"]:
                self.digest = page["digest"]

    def apply(self, change, number):
        """Applies a decided change, or a row of a snapshot. A new life begins without columns."""
        row = self.rows.setdefault(tuple(change["key"]), {"life": 0, "number": 0, "values": {}})
        self.clock = max([self.clock] + [int(cells[1], 16) for cells in change.get("cells", [])])
        if number > row["number"] and change["life"] >= row["life"]:
            values = row["values"] if change["life"] == row["life"] else {}
            row.update(life=change["life"], number=number, values=values)
            for cells in change.get("cells", []):
                values.update(cells[4])

    def write(self, changes):
        """Writes rows in one transaction, [(table, row, values, or None to delete)], and returns the verdict.

        The rows are to be as new as the user's view of them: a value that was pulled is overwritten, a newer one may win.
        """
        operations = []
        for table, row, values in changes:
            life = self.rows.get((table, row), {"life": 0})["life"]
            kind, next_life = ("update", life) if life % 2 else ("insert", life + 1)
            operation = {kind: [table, row], "life": next_life, "values": values}
            if values is None:
                operation = {"delete": [table, row], "life": life + 2 - life % 2}
            operations.append({"id": new_id(), **operation})
        self.clock = max(self.clock + 1, int(time.time() * 1000) << 16)
        basis = {name: self.cursor[name] for name in ("epoch", "number")}
        transaction = {"time": f"{self.clock:016x}", "basis": basis, "operations": operations}
        while True:
            previous = {"previous": self.chain[1]} if self.chain[1] else {}
            sent = {**transaction, "number": self.chain[0] + 1, **previous}
            try:
                response = self.request("push", {"device": self.device, "transactions": [sent], "schema": 1})
                break
            except SyncError as error:
                if error.args[0] != 409:
                    raise
                # The server has not the chain of this device. The ids of the operations make them safe to send again.
                self.device, self.chain = new_id(), (0, None)
        self.chain = (self.chain[0] + len(operations), operations[-1]["id"])
        self.pull()
        return response["verdicts"][0]

    def live(self):
        """Returns the rows that exist, by (table, row)."""
        return {key: row["values"] for key, row in sorted(self.rows.items()) if row["life"] % 2}


def digest(rows):
    """Returns the digest of rows of texts, integers and null, as `digest` of the client: the sum of a hash of each row."""
    mask, total = 2**64 - 1, 0
    text = lambda value: len(value.encode()).to_bytes(8, "big") + value.encode()  # noqa: E731
    for (table, row), content in rows.items():
        data = text(table) + uuid.UUID(row).bytes + content["life"].to_bytes(8, "big")
        for name, value in sorted(content["values"].items(), key=lambda item: item[0].encode()):
            coded = b"\3" + text(value) if isinstance(value, str) else b"\0"
            data += text(name) + (b"\1" + value.to_bytes(8, "big", signed=True) if isinstance(value, int) else coded)
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
    elif command in ("set", "delete"):
        print(json.dumps(client.write([(*arguments[:2], json.loads(arguments[2]) if command == "set" else None)])))
    else:
        other = SyncClient(url, space, client.token)
        other.pull()
        equal = other.rows == client.rows and digest(client.rows) == client.digest
        print(f"{len(client.live())} rows by the snapshot, {len(other.live())} by the log: {'equal' if equal else 'different'}")
        sys.exit(not equal)


if __name__ == "__main__":
    main(*sys.argv[1:]) if sys.argv[3:] and sys.argv[3] in ("rows", "set", "delete", "check") else sys.exit(__doc__)
