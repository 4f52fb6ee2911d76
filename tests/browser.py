"""Pages in Debian's Chromium without a network, at the sizes of screens that people have."""

import shutil
import time

import pytest

from app.process import PATIENCE

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]
SCREENS = [
    ((1440, 900), "light"),
    ((1280, 580), "dark"),
    ((1024, 600), "light"),
    ((360, 640), "light"),
    ((360, 640), "dark"),
    ((640, 360), "dark"),
]
NAMELESS = """[...document.querySelectorAll('button, input, select, a, canvas[role]')].filter((e) => e.offsetParent &&
  !(e.getAttribute('aria-label') || e.title || e.textContent.trim() || e.closest('label')?.textContent.trim() ||
    document.querySelector(`label[for="${e.id}"]`))).map((e) => e.id || e.outerHTML)"""
"""Controls that a screen reader has no name for."""
OVERLAPS = """(selectors) => {
  const boxes = selectors.flatMap((selector) => [...document.querySelectorAll(selector)].map((e) => [selector, e.getBoundingClientRect()]))
    .filter(([, box]) => box.width && box.height);
  const bad = [];
  for (const [name, box] of boxes) {
    if (box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) bad.push(`${name} is off the screen`);
    for (const [other, its] of boxes)
      if (other > name && box.left < its.right - 0.5 && its.left < box.right - 0.5 && box.top < its.bottom - 0.5 && its.top < box.bottom - 0.5)
        bad.push(`${name} covers ${other}`);
  }
  return bad;
}"""
"""Of elements none of which may cover another one or be off the screen: those that do."""


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: no page is opened")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium: no page is opened")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_file(browser):
    """Open a file without a network; at the end nothing may have been asked for or complained of."""
    troubles, contexts = [], []

    def open_page(path, size=(1280, 800), scheme="light", script=None, fragment="", touch=False):
        context = browser.new_context(
            offline=True,
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
            has_touch=touch,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda m: troubles.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: troubles.append(f"{e} {e.stack}"))
        page.on("dialog", lambda d: troubles.append(d.message))
        asked = (path.as_uri(), "data:,")
        page.on("request", lambda r: None if r.url.split("#")[0] in asked else troubles.append(r.url))
        if script:
            page.add_init_script(script)
        page.goto(path.as_uri() + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def wait(page, condition):
    """Until the expression holds; Playwright's own wait is an eval, which the page forbids."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {condition}")
