"""Pictures of worlds, as the page of `abut.show` draws them: needs playwright and Chromium.

python examples/pictures.py FOLDER
"""

import argparse
import shutil
import tempfile
from pathlib import Path

import abut

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
MOMENTS = {"wall": 0.9, "dominoes": 2.4}
SEEK = """async (slider, time) => {
  slider.value = time;
  slider.dispatchEvent(new Event("input"));
  for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
}"""


def main() -> None:
    """Let them run, open their pages, and keep what is seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as work:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, time in MOMENTS.items():
            scene = abut.scenes.WORLDS[name]()
            path = Path(work) / f"{name}.html"
            abut.show(scene.scene(scene.film(round(time / scene.dt) + 1), name)).save_html(path)
            page = browser.new_page(viewport={"width": 1200, "height": 760}, reduced_motion="reduce")
            page.goto(path.as_uri())
            page.evaluate("abutPlayer.ready")
            page.locator("#slider").evaluate(SEEK, time)
            page.screenshot(path=folder / f"{name}.png", clip={"x": 0, "y": 60, "width": 1200, "height": 600})
        browser.close()


if __name__ == "__main__":
    main()
