"""How the example gallery draws: SVG figures in colours that colour-blind readers tell apart."""

import matplotlib as mpl
from cycler import cycler
from sphinx_gallery.scrapers import matplotlib_scraper

from entrolearn.plotting.style import CLASS_STYLES

STYLE = {
    "axes.prop_cycle": cycler(color=[style["color"] for style in CLASS_STYLES[:6]]),
    "axes.titlesize": "medium",
    "hatch.linewidth": 0.8,
    "svg.hashsalt": "entrolearn",
}


def reset(gallery_conf: dict, file: str) -> None:
    """Set the style before each example."""
    mpl.rcdefaults()
    mpl.rcParams.update(STYLE)


def scrape(block: tuple, block_vars: dict, gallery_conf: dict) -> str:
    """Save the figures of a block as SVG files, and return their directives."""
    return matplotlib_scraper(block, block_vars, gallery_conf, format="svg", metadata={"Date": None})
