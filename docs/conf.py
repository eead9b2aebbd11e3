"""How Sphinx builds the site (`make docs`). Nothing is fetched, neither to build pages nor to read them."""

import inspect
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from numpydoc.docscrape import get_doc_object
from sklearn.exceptions import ConvergenceWarning

import entrolearn
from entrolab.checks.running import CHECKS
from entrolab.study.cell_numbers import with_numbers
from entrolab.study.config import load_configuration, read_yaml

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]  # the latter for `benchmarks`
import keys  # noqa: E402

project = "entrolearn"
author = "The entrolearn developers"
copyright = author
version = release = entrolearn.__version__

extensions = [
    "mathml",
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore = {("py:data", "math.e"), ("py:obj", "joblib.parallel_config")}
nitpick_ignore_regex = {  # types in signatures
    ("py:class", r"(collections|contextlib|matplotlib|numpy|os)\..*"),
    ("py:class", r"entrolearn\.machines\.\w+\.(_\w+|Additive|DualRidge|LayeredRidge)"),
    ("py:class", r"entrolearn\.plotting\.regions\.\w+"),
}
suppress_warnings = ["ref.term"]  # of docstrings inherited from scikit-learn
toc_object_entries_show_parents = "hide"
smartquotes = False  # "rbf" is code
default_role = "literal"  # as in scikit-learn's docstrings

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
numpydoc_show_class_members = False  # _templates/autosummary/class.rst does

plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("svg", 100)]
plot_rcparams = {"font.size": 8, "axes.titlesize": 8}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "image_scrapers": ("gallery.scrape",),
    "reset_modules": ("gallery.reset",),
    "backreferences_dir": "api/generated/backreferences",
    "doc_module": ("entrolearn",),
    "download_all_examples": False,
    "notebook_extensions": set(),
    "min_reported_time": float("inf"),
    "remove_config_comments": True,
    "show_signature": False,  # a link to another site
    "write_computation_times": False,  # on a page that loads scripts from other sites
}

html_title = project
html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "cluster")}  # no pages below them
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

# Some examples stop their solver early, to be quick.
warnings.filterwarnings("ignore", category=ConvergenceWarning)

SKLEARN = "https://scikit-learn.org/stable"

# Pages that are templates of what config/ and its definitions say.
CONFIGURED = {"checks", "datasets", "errata", "keys"}
# Pages that are templates of the csv files in docs/.
MEASURED = {"benchmarks", "feature-learning", "results", "which-learner"}

# Scripts, which are pages of the gallery: links to them stay within the site.
EXAMPLE = re.compile(r"\]\((?:\.\./)+examples/(?:(\w+)\.py)?\)")

# Files of the repository that are pages of the site as well: links to them stay within it.
PAGES = {"CHANGELOG.md": "changelog", "CONTRIBUTING.md": "contributing", "config/README.md": "configuration"}


def leave_out(app, what: str, name: str, member: object, skip: bool, options) -> bool | None:
    """Whether a class's page leaves a member out: data, which its docstring tells of, or not written here."""
    function = member.fget if isinstance(member, property) else member
    ours = str(getattr(function, "__module__", None)).startswith("entrolearn.")
    return None if ours and inspect.isroutine(function) else True


def draw_example(app, what: str, name: str, member: object, _, lines: list[str]) -> None:
    """Show what the example of a display draws, under its docstring."""
    if what == "class" and name.startswith("entrolearn.plotting."):
        example = get_doc_object(member)["Examples"]
        options = ["   :include-source: false", f"   :alt: What the example of {member.__name__} draws."]
        lines += ["", ".. plot::", *options, "", *(f"   {line}" for line in example), ""]


def escaped(text: object) -> str:
    """Plain text as Markdown that shows it unchanged."""
    return re.sub(r"([\\`*_{}\[\]()<>#|$~^])", r"\\\1", " ".join(str(text).split()))


def fill_in(app, docname: str, source: list[str]) -> None:
    """Fill a page that is a template: with what config/ says, or with measurements."""
    if docname in CONFIGURED:
        files, values = (HERE.parent / "config").rglob("*.yaml"), configured()
    elif docname in MEASURED:
        import measurements  # here: reading the configuration alone takes no benchmark

        files, values = HERE.rglob("*.csv"), measurements.PAGES[docname]()
    else:
        return
    for file in files:
        app.env.note_dependency(str(file))
    templates = app.builder.templates.environment
    templates.filters["escaped"] = escaped
    templates.filters["grouped"] = "{:,}".format
    source[0] = templates.from_string(source[0]).render(values)


def configured() -> dict[str, object]:
    """The catalog of data sets, the studies, all keys and the checks."""
    found, _ = load_configuration(HERE.parent, read_yaml(HERE.parent / "config" / "config.yaml"))
    studies = {name: with_numbers(study) for name, study in found.items()}
    return {"catalog": found.catalog, "studies": studies, "keys": keys.reference(), "checks": CHECKS}


def write_schemas(app, exception: Exception | None) -> None:
    """Write the JSON schemas of configuration files beside the pages."""
    if exception is None:
        keys.write_schemas(Path(app.outdir, "schemas"))


def stay_within(app, docname: str, source: list[str]) -> None:
    """Turn links to files of the repository that are pages of the site into links to these pages."""
    for file, page in PAGES.items():
        source[0] = re.sub(rf"\]\((\.\./)+{re.escape(file)}", f"](/{page}.md", source[0])
    source[0] = EXAMPLE.sub(lambda found: f"](/auto_examples/{found[1] or 'index'}.rst)", source[0])


def find_target(app, env, node, contnode):
    """Link names that are given in short, or by the module that defines them; scikit-learn's, to its site."""
    target = node["reftarget"]
    if target.startswith("sklearn."):
        page = f"api/{target}" if node["reftype"] == "mod" else f"modules/generated/{target}"
        return nodes.reference("", "", contnode, internal=False, refuri=f"{SKLEARN}/{page}.html")
    package, _, short = target.rpartition(".")
    if package.partition(".")[0] not in {"", "entrolearn"}:
        return None
    python = env.domains["py"]
    found = [n for n, entry in python.objects.items() if n.endswith(f".{short}") and not entry.aliased]
    if len(found) != 1:
        return None
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", found[0], node, contnode)


def setup(app):
    app.connect("autodoc-process-docstring", draw_example, priority=600)  # numpydoc's comes before
    app.connect("autodoc-skip-member", leave_out)
    app.connect("source-read", fill_in)
    app.connect("source-read", stay_within)
    app.connect("missing-reference", find_target)
    app.connect("build-finished", write_schemas)
