"""The schema that `runway view --schema` prints, beside the reader of `runway view`: schema.py RUNWAY

A document is valid exactly if the command ends with 0. Ends with 0 when every check held. Scripts/browser.sh runs it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from jsonschema import Draft202012Validator

import accessibility

SAMPLES = Path(__file__).parents[2] / "Samples"
INVALID = {
    "no node": {},
    "a node that is unknown": {"node": "carousel"},
    "a member that is unknown": {"node": "text", "text": "a", "colour": "#000"},
    "a member of another node": {"node": "text", "placeholder": "a"},
    "a number beyond its range": {"node": "box", "opacity": 1.1},
    "a fraction of a line": {"node": "text", "lines": 1.5},
    "a word that is unknown": {"node": "text", "font": "huge"},
    "a colour by its name": {"node": "box", "background": "red"},
    "a colour without dark": {"node": "box", "color": {"light": "#000"}},
    "one node as children": {"node": "box", "children": {"node": "text"}},
    "a text as a child": {"node": "box", "children": ["a"]},
    "an array as a text": {"node": "text", "text": ["a"]},
    "a heading beyond 6": {"node": "text", "heading": 7},
    "a gesture that is unknown": {"node": "box", "on": {"swipe": "a"}},
    "an event without a name": {"node": "box", "on": {"tap": {"detail": 1}}},
    "an expression as a condition": {"node": "text", "if": "a > 1"},
    "a use with an attribute": {
        "view": {"node": "use", "template": "a", "width": 1}, "templates": {"a": {"node": "box"}}},
    "a use without a template": {"node": "use"},
    "an animation without an end": {"node": "box", "animate": {"property": "slide", "from": 0, "seconds": 1}},
    "a member of a document that is unknown": {"view": {"node": "box"}, "theme": {}},
    "a mistake in a template": {"view": {"node": "box"}, "templates": {"a": {"node": "box", "gap": "wide"}}},
}


def reads(runway: str, folder: Path, document, skin) -> bool:
    for name, value in {"view": document, "skin": skin}.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    command = [runway, "view", folder / "view.json", "--skin", folder / "skin.json", "--output", folder / "view.html"]
    code = subprocess.run(command, stderr=subprocess.DEVNULL).returncode
    if code < 0:
        raise SystemExit(f"{command} ended by signal {-code}: {document}")
    return code == 0


def main(runway: str):
    schema = json.loads(subprocess.run([runway, "view", "--schema"], check=True, capture_output=True).stdout)
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    cases = [(name, document, accessibility.SKIN, True) for name, document in accessibility.DOCUMENTS.items()]
    for path in sorted(SAMPLES.glob("*/*/card.json")):
        skin = json.loads(path.with_name("skin.json").read_text())
        cases.append((str(path.relative_to(SAMPLES)), json.loads(path.read_text()), skin, True))
    cases += [(name, document, {}, False) for name, document in INVALID.items()]
    with tempfile.TemporaryDirectory() as folder:
        for name, document, skin, is_valid in cases:
            found = [validator.is_valid(document), reads(runway, Path(folder), document, skin)]
            verb = "take" if is_valid else "refuse"
            accessibility.check(f"schema and reader {verb} {name}", found == [is_valid] * 2, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
