"""The page of a data set."""

from html_pages import Page


def test_a_page_says_what_it_is_where_from_and_what_became_of_it(report):
    page = Page(report / "datasets" / "iris.html")
    for said in (
        "Iris & <flowers>",
        "Fisher (1936)",
        "CC BY 4.0",
        "A note of the catalog.",
        "150",
        "33.3 % of the rows",
        f"sha256 {'0f' * 32}, 4,551 bytes",
        "tags.dataset = 'iris'",
        "Machines & <entropy>",
        "reproduced published 80.0 ±1.0",
    ):
        assert said in page.said
    assert "https://example.org/iris.csv" in page.links
    assert "../paper.html#table4" in page.links


def test_rows_of_other_data_sets_are_not_on_it(report):
    wine = Page(report / "datasets" / "wine.html").said
    assert "no data" in wine
    assert "a wine: 404 <gone>" in wine.replace("awine", "a wine")  # the footnote of its cells
    assert "404" not in Page(report / "datasets" / "iris.html").said
    assert "no data" not in Page(report / "datasets" / "iris.html").said


def test_the_list_counts_and_names_who_uses_them(report):
    page = Page(report / "datasets" / "index.html")
    assert "2 data sets" in page.said
    assert page.links.count("../paper.html") == 2
    assert "wineWinebinary178132" in page.said.replace(" ", "")
