"""The pictures of docs/images: what they need is named where it is absent, and they are small."""

import asyncio
import importlib.util
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

TOOL = Path(__file__).parents[2] / "tools" / "screenshots.py"


@pytest.fixture(scope="module")
def screenshots():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("screenshots", TOOL)
    module = sys.modules["screenshots"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def said(folder, **environment):
    """What the script says instead of taking pictures."""
    done = subprocess.run(
        [sys.executable, TOOL, "--paper", "small"],
        cwd=folder, env=os.environ | environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout == ""
    return done.stderr


def test_without_a_browser_it_says_so_in_one_line(tmp_path):
    assert said(tmp_path, PATH=str(tmp_path)) == (
        "no browser on the PATH: pictures need one of chromium, chromium-browser, google-chrome, "
        "google-chrome-stable, chrome\n"
    )


def test_without_a_table_it_says_how_to_make_one(tmp_path):
    browser = tmp_path / "chromium"
    browser.write_text("#!/bin/sh\n")
    browser.chmod(0o755)
    line = said(tmp_path, PATH=str(tmp_path))
    table = "results/small/tables/demo_cv.html"
    assert line == f"{table} is not there: `snakemake {table}` makes it\n"


def test_without_runs_it_says_so(tmp_path, screenshots):
    with (
        pytest.raises(screenshots.NotThere, match=r"^no runs yet: the workflow logs them to .*mlflow\.db$"),
        screenshots.served(tmp_path / "mlflow.db"),
    ):
        pass


def test_smaller_picture_shows_the_same(screenshots):
    """A page has a few colours, and text with soft edges."""
    page = Image.new("RGB", (600, 400), "white")
    draw = ImageDraw.Draw(page)
    draw.rectangle((0, 0, 600, 30), fill=(31, 119, 180))
    for line in range(18):
        draw.text((10, 40 + 20 * line), "ours 86.1 ± 4.4, published 86.9 " * 2, "black", font_size=14)
    kept = io.BytesIO()
    page.save(kept, "png")
    small = screenshots.smaller(kept.getvalue())
    with Image.open(io.BytesIO(small)) as image:
        shown = np.asarray(image.convert("RGB"), int)
    assert np.abs(shown - np.asarray(page, int)).max() <= 8
    assert len(small) < 0.8 * len(kept.getvalue())


@pytest.mark.slow
def test_page_is_seen_at_the_size_asked_for_and_after_its_scripts(tmp_path, screenshots):
    if not any(map(shutil.which, screenshots.BROWSERS)):
        pytest.skip("no browser on the PATH")
    page = tmp_path / "page.html"
    page.write_text(
        "<body style='margin:0'><script>setTimeout(() => document.body.style.background='red', 1000)</script>"
    )
    picture = screenshots.Picture("page", page.as_uri(), height=200, width=300)
    asyncio.run(screenshots.take(screenshots.found_browser(), [picture], tmp_path))
    with Image.open(tmp_path / "page.png") as image:
        assert image.size == (300, 200)
        assert image.convert("RGB").getpixel((150, 100)) == (255, 0, 0)


def test_a_page_that_is_still_loading_is_blank(screenshots):
    def png(colour, dot):
        image = Image.new("RGB", (40, 30), colour)
        if dot:
            ImageDraw.Draw(image).point((20, 15), "black")
        kept = io.BytesIO()
        image.save(kept, "png")
        return kept.getvalue()

    assert screenshots.is_blank(png("white", dot=False))
    assert not screenshots.is_blank(png("white", dot=True))
