"""Runs each call with three programs against httpbin, and compares what httpbin received, or what came back."""

import json
import os
import subprocess
import sys

from cases import CASES

RUNWAY, HTTPIE, PORT, FOLDER = sys.argv[1:5]
with open("docs/command-line.md", encoding="utf-8") as page:
    PAGE = " ".join(page.read().split())
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
    done = subprocess.run([*program, *words], input=(stdin or "").encode(), capture_output=True, timeout=300)
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


def play(program, case, words):
    """The output of the last step, and whether each step ended as it should."""
    steps = words if isinstance(words[0], list) else [words]
    statuses = []
    for step in steps:
        status, output = run(program, step, case.get("stdin"))
        statuses.append(status)
    is_as_expected = all(status == 0 for status in statuses[:-1]) and (statuses[-1] != 0) == case.get("fails", False)
    return output, is_as_expected


def compared(name, case, output):
    """The output in a form that can be compared, and whether a media type of httpie's was replaced."""
    if case.get("raw"):
        return output, False
    result = sent(output)
    types = case.get("httpie_type") if name == "httpie" else None
    if types is None:
        return result, False
    fields = result["headers"]
    found = fields.get("Content-Type")
    fields["Content-Type"] = types.get(found, found)
    return result, found in types


def main():
    prepare()
    programs = {"runway": [RUNWAY, "call"], "httpie": [HTTPIE], "curl": ["curl", "-sS"]}
    equal, total, rows, differences = {"httpie": 0, "curl": 0}, {"httpie": 0, "curl": 0}, [], 0
    for number, case in enumerate(CASES, 1):
        results, ended, replaced = {}, {}, {}
        for name, program in programs.items():
            words = case[name]
            if words is None:
                continue
            # httpie reads standard input unless an option forbids it.
            more = ["--ignore-stdin"] if name == "httpie" and case.get("stdin") is None else []
            output, ended[name] = play(program + more, case, words)
            results[name], replaced[name] = compared(name, case, output)
        marks = []
        for name in ["httpie", "curl"]:
            if name not in results:
                marks.append("—")
                continue
            total[name] += 1
            is_same = results[name] == results["runway"] and ended[name] and ended["runway"]
            # A type that httpie names as it is meant needs no replacement any more.
            if name == "httpie" and "httpie_type" in case and not replaced[name]:
                is_same = False
            equal[name] += is_same and not replaced[name]
            marks.append(("same, but for the media type" if replaced[name] else "same") if is_same else "DIFFERS")
        rows.append((number, case["name"], *marks))
        if "DIFFERS" in marks:
            differences += 1
            for name, result in results.items():
                print(f"{number} {case['name']}: {name} {result} {'' if ended[name] else '(exit status)'}", file=sys.stderr)
    print("| | call | httpie | curl |\n|---|---|---|---|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    counts = f"{len(CASES)} calls: as httpie in {equal['httpie']} of {total['httpie']}, as curl in {equal['curl']} of {total['curl']}."
    print(f"\n{counts}")
    if counts not in PAGE:
        print(f"docs/command-line.md does not say: {counts}", file=sys.stderr)
        differences += 1
    return 1 if differences else 0


sys.exit(main())
