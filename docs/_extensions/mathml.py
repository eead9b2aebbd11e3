"""Equations as MathML, which browsers show by themselves: no script, no fonts, no network."""

from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def visit_inline(translator, node):
    translator.body.append(f'<span class="equation">{mathml(node)}</span>')
    raise nodes.SkipNode


def visit_block(translator, node):
    if node["number"]:
        raise ExtensionError(f"the equation {node['label']!r} asks for a number, which is not drawn.")
    translator.body.append(f'<div class="equation">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node, *, as_block: bool = False) -> str:
    """The equation of a node; one that cannot be read is a warning, and stands there as it is written."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("equation %r: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"
