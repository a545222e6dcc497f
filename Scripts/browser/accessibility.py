"""Pages of `runway view`, under axe, by keyboard and as a screen reader reads them: accessibility.py RUNWAY CHROMIUM

Ends with 0 when every check held. Scripts/browser.sh runs it.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# The longest that a page may take, in milliseconds.
PATIENCE = 300_000
ROOT = Path(__file__).parents[2]
SKIN = {"surface": {"light": "#ffffff", "dark": "#101418"}, "quiet": {"light": "#5c5c5c", "dark": "#a0a8b0"}}
DATA = {"name": "Ada", "coupons": [{"id": 7, "title": "Tea", "price": 2}, {"id": 8, "title": "Cake", "price": 3.5}]}


def text(words, **members):
    return {"node": "text", "text": words, **members}


def box(*children, **members):
    return {"node": "box", "children": list(children), **members}


ROW = box(text("{item.title}", lines=1), text("{item.price} €", color="$quiet"), layout="row", gap=8,
          each="{coupons}", key="{item.id}", on={"tap": {"name": "open", "detail": "{item.id}"}})
FORM = box(
    text("Delivery", heading=1, font="largeTitle"),
    text("Address", heading=2, font="title"),
    {"node": "input", "label": "Name", "value": "{name}", "on": {"change": "name"}},
    {"node": "input", "mode": "email", "placeholder": "E-mail"},
    {"node": "input", "mode": "password", "label": "Password"},
    box(text("News by e-mail"), {"node": "spacer"}, {"node": "switch", "label": "News by e-mail", "value": True},
        layout="row", width="fill"),
    box(text("Save"), background="#0a5fe0", color="#ffffff", paddingInline=16, paddingBlock=10, radius=8,
        on={"tap": "save"}),
    text("All fields are required.", font="footnote", color="$quiet"),
    gap=12, paddingInline=16, paddingBlock=16)
PICTURES = box(
    text("Pictures", heading=1),
    {"node": "image", "source": "cake.png", "label": "A cake with cherries", "width": 80, "height": 60},
    {"node": "image", "source": "ornament.png", "width": 80, "height": 60},
    {"node": "image", "source": "open.png", "label": "Open the gallery", "width": 80, "height": 60, "on": {"tap": "gallery"}},
    text("★★★☆☆", label="3 of 5 stars"))
PAGER = box(
    text("Offers", heading=1),
    {"node": "pager", "label": "Offers of today", "children": [
        box(text("{item.title}", heading=2), paddingBlock=40, each="{coupons}")]},
    {"node": "slot", "name": "map", "label": "Map of the shops", "else": text("The map is in the app.")})
COUPONS = box(text("Coupons for {name}", heading=1, font="title"), {"node": "list", "label": "Coupons", "children": [ROW]},
              background="$surface")
MARQUEE = box(
    text("News", heading=1),
    box(text("Today two for one · " * 2, width="content", lines=1,
             animate={"property": "slide", "from": 0, "to": -50, "seconds": 12}), layout="overlay", clip=True))
# The first document of the article on views.
ARTICLE = json.loads(re.search(r"```json\n(.*?)```", (
    ROOT / "Sources/RunwayViews/RunwayViews.docc/ViewsFromJSON.md").read_text(), re.S).group(1))
DOCUMENTS = {"form": FORM, "pictures": PICTURES, "pager": PAGER, "coupons": COUPONS, "marquee": MARQUEE, "article": ARTICLE}
# Documents with mistakes, and the rules of axe that find them: without these, a silent axe would pass everything.
MISTAKES = {
    "unnamed input": ({"node": "input", "value": "a"}, "label"),
    "unnamed button": (box(width=40, height=40, on={"tap": "a"}), "aria-command-name"),
    "pale text": (text("pale", color="#bbbbbb", background="#ffffff"), "color-contrast"),
}


def check(what: str, holds: bool, *details):
    print(("ok    " if holds else "FAILED"), what, *([] if holds else details), flush=True)
    if not holds:
        raise SystemExit(1)


def render(runway: str, folder: Path, document, *options: str) -> str:
    """Returns the address of the page."""
    for name, value in {"view": document, "data": DATA, "skin": SKIN}.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    page = folder / "view.html"
    subprocess.run([runway, "view", folder / "view.json", "--data", folder / "data.json", "--skin", folder / "skin.json",
                    "--output", page, *options], check=True)
    return page.as_uri()


def violations(page) -> dict[str, str]:
    """The rules that the page violates, each with its first element."""
    found = Axe().run(page).response["violations"]
    return {rule["id"]: rule["nodes"][0]["html"] for rule in found}


def examine(runway: str, folder: Path, browser):
    for name, document in DOCUMENTS.items():
        address = render(runway, folder, document)
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
            page.goto(address, timeout=PATIENCE)
            found = violations(page)
            check(f"axe finds nothing in {name}, {scheme}", not found, found)
            page.close()
    for name, (document, rule) in MISTAKES.items():
        page = browser.new_page()
        page.goto(render(runway, folder, document), timeout=PATIENCE)
        found = violations(page)
        check(f"axe finds the {name}", rule in found, found)
        page.close()


def sent(page):
    """The last event that the page sent."""
    return json.loads(page.evaluate("JSON.stringify(events.at(-1) ?? null)"))


def read_placeholders(runway: str, folder: Path, browser):
    """axe does not look at placeholders, which are pale in dark pages by default."""
    page = browser.new_page(color_scheme="dark")
    page.goto(render(runway, folder, FORM), timeout=PATIENCE)
    look = "({color, opacity}) => [color, opacity]"
    style = page.evaluate(f"({look})(getComputedStyle(document.querySelector('[type=email]'), '::placeholder'))")
    check("placeholders have the colour of text at 0.7", style == ["rgb(255, 255, 255)", "0.7"], style)


def use_keys(runway: str, folder: Path, browser):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(render(runway, folder, box(FORM, PAGER, COUPONS)), timeout=PATIENCE)
    page.evaluate("globalThis.events = [], addEventListener('runway-view', event => events.push(event.detail)), 0")
    order = []
    for _ in range(8):
        page.keyboard.press("Tab")
        order.append(page.evaluate("(node => node.ariaLabel || node.textContent)(document.activeElement)"))
    expected = ["Name", "E-mail", "Password", "News by e-mail", "Save", "Offers of today", "Tea2 €", "Cake3.5 €"]
    check("Tab reaches all controls in the order of the document", order == expected, order)
    page.keyboard.press("Enter")
    check("Enter taps", sent(page) == {"name": "open", "detail": 8}, sent(page))
    page.focus("[data-tap=save]")
    page.keyboard.press("Space")
    check("the space bar taps", sent(page) == {"name": "save", "detail": None}, sent(page))
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    check("the focus is visible", outline != "none", outline)
    page.focus("[role=switch]")
    page.keyboard.press("Space")
    check("the space bar switches", not page.is_checked("[role=switch]"))
    page.focus(".pager")
    page.evaluate("""globalThis.turned = new Promise(done =>
        document.activeElement.addEventListener('scroll', () => done(true), {once: true})), 0""")
    page.keyboard.press("ArrowRight")
    check("arrows turn pages", page.evaluate("turned"))


def read_aloud(runway: str, folder: Path, browser):
    page = browser.new_page()
    page.goto(render(runway, folder, box(PICTURES, COUPONS)), timeout=PATIENCE)
    lines = [line.strip() for line in page.locator("main").aria_snapshot().splitlines()]
    for line in ['- heading "Pictures" [level=1]', '- img "A cake with cherries"', '- button "Open the gallery"',
                 '- img "3 of 5 stars"', '- heading "Coupons for Ada" [level=1]', '- list "Coupons":', '- button "Tea 2 €"']:
        check(f"a screen reader has {line[2:]}", any(found.startswith(line) for found in lines), lines)
    check("and no ornament", not any("ornament" in line for line in lines), lines)


def main(runway: str, chromium: str):
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=chromium, timeout=PATIENCE, args=["--headless=new", "--no-sandbox"])
        for checks in (examine, read_placeholders, use_keys, read_aloud):
            checks(runway, Path(folder), browser)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
