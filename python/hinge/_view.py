"""The report page of a result: inline in a notebook, else in the browser."""

from __future__ import annotations

import html
import os
import tempfile
from typing import TYPE_CHECKING, Any

from ._errors import InputError, NumericalError
from ._progress import _in_notebook

if TYPE_CHECKING:
    from ._result import Result


class Page:
    """A report page. A notebook shows it inline."""

    def __init__(self, path: str, height: int) -> None:
        self.path = path
        self.height = height

    def _repr_html_(self) -> str:
        with open(self.path, encoding="utf-8") as f:
            page = f.read()
        return (
            f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{self.height}" style="border: 1px solid #ccc; box-sizing: border-box">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        return f"<hinge report page {self.path}>"


def view(result: Result, path: str | os.PathLike[str] | None, height: int) -> Any:
    if result.model is None:
        raise InputError("this record has no model in it that could be run for a page")
    if path is None:
        path = os.path.join(tempfile.mkdtemp(prefix="hinge-"), "report.html")
    try:
        result.model.run(report=path, end=float(result.t[-1]) if len(result) else None)
    except NumericalError:
        pass  # the page says so
    page = Page(os.fspath(path), height)
    if not _in_notebook():
        import webbrowser

        webbrowser.open("file://" + os.path.abspath(page.path))
    return page
