"""Pages of html, read as strictly as a test wants them."""

import re
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """A page's text, ids, links, headings and what it loads; unbalanced tags are an error."""

    VOID = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self, source: Path | str):
        super().__init__()
        self.text, self.links, self.loads, self.ids, self.tags, self.open = "", [], [], [], [], []
        self.attributes = set()
        self.headings, self.elements = [], []
        self.feed(source.read_text(encoding="utf-8") if isinstance(source, Path) else source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        self.attributes |= attributes.keys()
        self.loads += [attributes["src"]] if "src" in attributes else []
        self.ids += [attributes["id"]] if "id" in attributes else []
        if "href" in attributes:
            (self.links if tag == "a" else self.loads).append(attributes["href"])
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & {*self.open}:
            self.text += data

    @property
    def said(self) -> str:
        """The text with its white space collapsed."""
        return " ".join(self.text.split())

    def all(self, tag: str) -> list[dict]:
        """The attributes of each element of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]
