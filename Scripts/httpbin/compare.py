"""Runs each call with three programs against httpbin, and compares what httpbin received, or what came back."""

import json
import os
import subprocess
import sys

from cases import CASES

RUNWAY, HTTPIE, PORT, FOLDER = sys.argv[1:5]
BASE = f"http://127.0.0.1:{PORT}"
# Fields that say who sent a request, by which connection, or what the program itself would accept.
IGNORED = {"User-Agent", "Accept", "Accept-Encoding", "Connection", "Content-Length", "Transfer-Encoding", "Expect"}


def prepare():
    """Files that calls send, and a folder for sessions."""
    os.chdir(FOLDER)
    files = {"text.txt": b"from file\n", "n.json": b'{"n": 1.5}', "bin": bytes(range(256)), "token": b"Bearer t\n"}
    for name, content in files.items():
        with open(name, "wb") as file:
            file.write(content)
    for name in ["NO_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]:
        os.environ.pop(name, None)
    os.environ["XDG_CONFIG_HOME"] = os.environ["HTTPIE_CONFIG_DIR"] = os.path.join(FOLDER, "config")


def run(program, words, stdin):
    words = [word.replace("B/", BASE + "/").replace("PORT", PORT) for word in words]
    done = subprocess.run([*program, *words], input=(stdin or "").encode(), capture_output=True, timeout=60)
    return done.returncode, done.stdout


def sent(output):
    """What httpbin received, in a form that can be compared."""
    try:
        said = json.loads(output)
    except ValueError:
        return output.decode(errors="replace")
    if not isinstance(said, dict) or "headers" not in said:
        return said
    fields = {name: value for name, value in said["headers"].items() if name not in IGNORED}
    if fields.get("Content-Type", "").startswith("multipart/form-data"):
        fields["Content-Type"] = "multipart/form-data"
    fields.setdefault("Host", "")
    # localhost and 127.0.0.1 are the same server.
    fields["Host"] = fields["Host"].replace("localhost", "127.0.0.1")
    data = said.get("data")
    return {
        "method": said.get("method"), "args": said.get("args"), "headers": fields, "form": said.get("form"),
        "files": said.get("files"), "json": said.get("json"), "data": None if said.get("json") is not None else data,
    }


def main():
    prepare()
    programs = {"runway": [RUNWAY, "call"], "httpie": [HTTPIE], "curl": ["curl", "-sS"]}
    equal, total, rows = {"httpie": 0, "curl": 0}, {"httpie": 0, "curl": 0}, []
    for number, case in enumerate(CASES, 1):
        results = {}
        for name, program in programs.items():
            words = case[name]
            if words is None:
                continue
            # httpie reads standard input unless an option forbids it.
            more = ["--ignore-stdin"] if name == "httpie" and case.get("stdin") is None else []
            steps = words if words and isinstance(words[0], list) else [words]
            for step in steps:
                status, output = run(program + more, step, case.get("stdin"))
            results[name] = (status, output if case.get("raw") else sent(output))
        marks = []
        for name in ["httpie", "curl"]:
            if name not in results:
                marks.append("—")
                continue
            total[name] += 1
            same = results[name][1] == results["runway"][1] and (results[name][0] == 0) == (results["runway"][0] == 0)
            equal[name] += same
            known = case.get("why") if name == "httpie" else None
            marks.append("same" if same else known or "DIFFERS")
        rows.append((number, case["name"], *marks))
        if "DIFFERS" in marks:
            for name, result in results.items():
                print(f"{number} {case['name']}: {name} {result}", file=sys.stderr)
    print("| | call | httpie | curl |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    counts = [f"as {name} in {equal[name]} of {total[name]}" for name in ["httpie", "curl"]]
    print(f"\n{len(CASES)} calls: the same {', '.join(counts)}.")
    return 1 if any("DIFFERS" in row for row in rows) else 0


sys.exit(main())
