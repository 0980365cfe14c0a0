"""Reads spreadsheets: XLSX as a stream of rows, and XLS, XLSB and ODS by calamine.

Calamine has neither formulas nor errors, and needs memory for the whole rectangle between the first cell and the last one; other
readers fail on parts that have no text, such as styles. So XLSX, which most files are, is read here.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from lxml import etree

from files.reading.archives import open_archive
from files.reading.errors import NeedsPassword

MAX_GAP = 50
"""Empty cells in a row that are shown. A cell behind more of them has its address before it."""
NOT_CALCULATED = "[not calculated]"
MAX_COLUMN_LETTERS = 3
MAX_FORMAT_CHARACTERS = 255
"""The limits of spreadsheets. What is longer would only take time."""
_DATE_FORMATS = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""The built-in formats of dates and times, also those of Chinese and Japanese versions."""
_ELAPSED_FORMAT = 46
_NO_DATE_CODE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!hh?\]|mm?\]|ss?\])[^]]*\]|e[+-]|general', re.IGNORECASE)
"""The parts of the code of a format that are no parts of a date, although they may have its letters."""
_OLE = b"\xd0\xcf\x11\xe0"
_PASSWORD_OF_XLS = re.compile(rb"\x09\x08\x10\x00\x00\x06\x05\x00.{12}(\x86\x00\x00\x00)?\x2f\x00", re.DOTALL)
"""The beginning of a workbook with a password: its first record, perhaps that of write protection, and that of encryption."""


def read_sheets(content: bytes) -> Iterator[str]:
    """Yield the rows of a spreadsheet, by sheets. Raises `TooMuchContent`, `NeedsPassword`, and what lxml and calamine raise."""
    if content.startswith(_OLE):  # XLS is no archive
        if _PASSWORD_OF_XLS.search(content):
            raise NeedsPassword
        yield from _read_with_calamine(content)
        return
    archive = open_archive(content)
    names = set(archive.namelist())
    if "content.xml" in names or "xl/workbook.bin" in names:
        yield from _read_with_calamine(content)
        return
    workbook = _Workbook(archive)
    for name, part in workbook.list_sheets():
        yield f"[sheet {name}]"
        if part in names:
            yield from workbook.read_rows(part)


def _read_with_calamine(content: bytes) -> Iterator[str]:
    """Yield the rows of XLS, XLSB or ODS."""
    import python_calamine

    workbook = python_calamine.load_workbook(io.BytesIO(content))
    for sheet in workbook.sheets_metadata:
        if sheet.typ != python_calamine.SheetTypeEnum.WorkSheet:
            continue
        yield f"[sheet {sheet.name}]"
        for row in workbook.get_sheet_by_name(sheet.name).iter_rows():
            if row.count("") == len(row):
                continue
            yield _join_cells([(number, _format_value(cell)) for number, cell in enumerate(row, 1) if cell != ""])


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return _format_number(value) if isinstance(value, float) else str(value)


def _format_number(number: float) -> str:
    """Return a number with the 15 digits that spreadsheets have, and without a fraction that is zero."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"


def _join_cells(cells: list[tuple[int, str]]) -> str:
    """Return a row. `cells`: the numbers of their columns, from 1 on, and their texts."""
    parts: list[str] = []
    column = 0
    for number, text in cells:
        if number - column > MAX_GAP:
            text = f"[column {_get_column_name(number)}] {text}"
        else:
            parts += [""] * (number - column - 1)
        parts.append(text)
        column = number
    return " | ".join(parts)


def _get_column_name(number: int) -> str:
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def _get_column(address: str | None) -> int | None:
    """Return the number of the column of a cell such as `B2`; null without an address."""
    letters = re.sub(r"[^A-Z].*", "", (address or "").upper())
    if len(letters) > MAX_COLUMN_LETTERS:
        return None
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number or None


class _Workbook:
    """The parts of an XLSX that its cells refer to."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        targets = self._read_relations("").values()
        self.part = next((target for type, target in targets if type == "officeDocument"), "xl/workbook.xml")
        self.relations = self._read_relations(self.part)
        self.root = self._parse(self.part)
        self.has_date_1904 = _is_on(self.root.find("{*}workbookPr"), "date1904")
        # Programs that do not calculate write this, and 0 as the value of each formula.
        self.is_calculated_later = _is_on(self.root.find("{*}calcPr"), "fullCalcOnLoad")
        self.strings = self._read_strings()
        self.formats = self._read_formats()

    def list_sheets(self) -> Iterator[tuple[str, str]]:
        """Yield the names and the parts of the worksheets."""
        for sheet in self.root.iterfind("{*}sheets/{*}sheet"):
            id = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), "")
            type, target = self.relations.get(id, ("", ""))
            if type == "worksheet":
                yield sheet.get("name", ""), target

    def read_rows(self, part: str) -> Iterator[str]:
        """Yield the rows that have content, one after the other: how far apart they are does not matter."""
        for row in self._iterate(part, "row"):
            cells: list[tuple[int, str]] = []
            column = 0
            for cell in row.iterfind("{*}c"):
                column = _get_column(cell.get("r")) or column + 1
                text = self._read_cell(cell)
                if text:
                    cells.append((column, text))
            if cells:
                yield _join_cells(cells)

    def _read_cell(self, cell: Any) -> str:
        type, value, formula = cell.get("t", "n"), cell.findtext("{*}v"), cell.find("{*}f")
        if type == "inlineStr":
            return _read_rich_text(cell.find("{*}is"))
        if formula is not None and not (value or (type == "str" and value is not None)):
            return f"={formula.text or '…'} {NOT_CALCULATED}"
        if not value:
            return ""
        if formula is not None and self.is_calculated_later and value == "0":
            return f"={formula.text or '…'} {NOT_CALCULATED}"
        if type == "s":
            number = int(value) if value.isdecimal() else len(self.strings)
            return self.strings[number] if number < len(self.strings) else ""
        if type == "b":
            return "FALSE" if value == "0" else "TRUE"
        return self._format(value, cell.get("s")) if type == "n" else value

    def _format(self, value: str, style: str | None) -> str:
        try:
            number = float(value)
        except ValueError:
            return value
        code = self.formats.get(style or "0")
        if code is None or not 0 <= number < 2_958_466:  # the year 10000
            return _format_number(number)
        seconds = round(number * 86_400)
        if code == "elapsed" or number < 1:
            return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        # Spreadsheets count a 29 February 1900, which did not exist, so the days before it are counted from another start.
        start = date(1904, 1, 1) if self.has_date_1904 else date(1899, 12, 30 if number >= 61 else 31)
        day = start + timedelta(days=seconds // 86_400)
        seconds %= 86_400
        return f"{day} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" if seconds else str(day)

    def _read_strings(self) -> list[str]:
        part = next((target for type, target in self.relations.values() if type == "sharedStrings"), None)
        if part is None or part not in self.archive.namelist():
            return []
        return [_read_rich_text(item) for item in self._iterate(part, "si")]

    def _read_formats(self) -> dict[str, str]:
        """Return, for the numbers of the styles that show dates and times, whether it is a `date` or `elapsed` time."""
        part = next((target for type, target in self.relations.values() if type == "styles"), None)
        try:
            root = self._parse(part or "")
        except (KeyError, etree.XMLSyntaxError):
            return {}
        codes = {item.get("numFmtId"): item.get("formatCode", "") for item in root.iterfind("{*}numFmts/{*}numFmt")}
        formats: dict[str, str] = {}
        for number, style in enumerate(root.iterfind("{*}cellXfs/{*}xf")):
            id = style.get("numFmtId", "0")
            code = _NO_DATE_CODE.sub("", codes.get(id, "")[:MAX_FORMAT_CHARACTERS]).lower()
            if re.search(r"\[[hms]", code) or id == str(_ELAPSED_FORMAT):
                formats[str(number)] = "elapsed"
            elif re.search("[ymdhse]", code) or (id.isdecimal() and int(id) in _DATE_FORMATS):
                formats[str(number)] = "date"
        return formats

    def _read_relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Return the relations of a part, or of the archive, by id: the last part of the type's URL, and the target."""
        folder, name = posixpath.split(part)
        try:
            root = self._parse(posixpath.join(folder, "_rels", f"{name}.rels"))
        except KeyError:
            return {}
        return {
            item.get("Id"): (
                posixpath.basename(item.get("Type", "")),
                posixpath.normpath(posixpath.join("/", folder, item.get("Target", ""))).removeprefix("/"),
            )
            for item in root.iterfind("{*}Relationship")
        }

    def _parse(self, part: str) -> Any:
        return etree.fromstring(self.archive.read(part), etree.XMLParser(resolve_entities=False))

    def _iterate(self, part: str, name: str) -> Iterator[Any]:
        """Yield the elements of this name, and forget each afterwards."""
        with self.archive.open(part) as stream:
            for _, element in etree.iterparse(stream, tag=f"{{*}}{name}", resolve_entities=False):
                yield element
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]


def _is_on(element: Any, name: str) -> bool:
    return element is not None and element.get(name) in ("1", "true")


def _read_rich_text(element: Any) -> str:
    """Return the text of a cell without the readings of its characters (phonetic runs)."""
    if element is None:
        return ""
    texts = [*element.iterfind("{*}t"), *element.iterfind("{*}r/{*}t")]
    text = "".join(item.text or "" for item in texts)
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)
