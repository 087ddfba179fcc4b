#!/usr/bin/python3
"""Makes empty documents, and reads saved ones without the program that wrote them.

  saved.py new FILE     an empty FILE.xlsx, or a FILE.docx or FILE.odt of the paragraphs on standard input
  saved.py read FILE    as JSON: the cells of the first sheet of FILE.xlsx, or the paragraphs of FILE.docx or FILE.odt
"""

import json
import sys
import xml.etree.ElementTree as xml
import zipfile
from xml.sax.saxutils import escape

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
SHEETS = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument"
OASIS = "urn:oasis:names:tc:opendocument:xmlns"


def office_open(main, kind, parts, links=""):
    """The parts of a package of Office Open XML around its main part."""
    overrides = "".join(
        f'<Override PartName="/{name}" ContentType="{TYPE}.{kind}.{part}+xml"/>' for name, (part, _) in parts.items())
    files = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/>{overrides}</Types>',
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{LINKS}/officeDocument" Target="{main}"/></Relationships>',
        **{name: f"{HEAD}{text}" for name, (_, text) in parts.items()},
    }
    if links:
        files["xl/_rels/workbook.xml.rels"] = f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
    return files


def new_files(suffix, paragraphs):
    if suffix == "xlsx":
        book = f'<workbook xmlns="{SHEETS}" xmlns:r="{LINKS}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>'
        sheet = f'<worksheet xmlns="{SHEETS}"><sheetData/></worksheet>'
        return office_open("xl/workbook.xml", "spreadsheetml", {
            "xl/workbook.xml": ("sheet.main", book), "xl/worksheets/sheet1.xml": ("worksheet", sheet),
        }, f'<Relationship Id="r1" Type="{LINKS}/worksheet" Target="worksheets/sheet1.xml"/>')
    if suffix == "docx":
        body = "".join(f'<w:p><w:r><w:t xml:space="preserve">{escape(one)}</w:t></w:r></w:p>' for one in paragraphs)
        text = f'<w:document xmlns:w="{WORDS}"><w:body>{body}</w:body></w:document>'
        return office_open("word/document.xml", "wordprocessingml", {"word/document.xml": ("document.main", text)})
    kind = "application/vnd.oasis.opendocument.text"
    body = "".join(f"<text:p>{escape(one)}</text:p>" for one in paragraphs)
    return {
        "mimetype": kind,
        "META-INF/manifest.xml": f'{HEAD}<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0" manifest:version="1.2">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/><manifest:file-entry '
        'manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>',
        "content.xml": f'{HEAD}<office:document-content xmlns:office="{OASIS}:office:1.0" xmlns:text="{OASIS}:text:1.0" '
        f'office:version="1.2"><office:body><office:text>{body}</office:text></office:body></office:document-content>',
    }


def read_sheet(package):
    """The cells that hold something: {"A1": {"text": …}}, with "number" or "formula" instead of a text."""
    def part(name):
        return xml.fromstring(package.read(name))

    def words(node):
        return "".join(one.text or "" for one in node.iter(f"{{{SHEETS}}}t"))

    shared = [words(one) for one in part("xl/sharedStrings.xml")] if "xl/sharedStrings.xml" in package.namelist() else []
    cells = {}
    for cell in part("xl/worksheets/sheet1.xml").iter(f"{{{SHEETS}}}c"):
        formula = cell.find(f"{{{SHEETS}}}f")
        value = cell.find(f"{{{SHEETS}}}v")
        kind = cell.get("t")
        holds = {}
        if formula is not None:
            holds["formula"] = f"={formula.text}"
        if kind == "s" and value is not None:
            holds["text"] = shared[int(value.text)]
        elif kind in ("str", "inlineStr"):
            holds["text"] = value.text or "" if value is not None else words(cell)
        elif kind == "e" and value is not None:
            holds["error"] = value.text
        elif value is not None:
            holds["boolean" if kind == "b" else "number"] = float(value.text)
        if holds:
            cells[cell.get("r")] = holds
    return cells


def docx_words(node):
    tag = node.tag.rpartition("}")[2]
    if tag == "t":
        return node.text or ""
    return {"tab": "\t", "br": "\n"}.get(tag, "") + "".join(map(docx_words, node)) if tag != "pPr" else ""


def odt_words(node):
    tag = node.tag.rpartition("}")[2]
    own = {"tab": "\t", "line-break": "\n", "s": " " * int(node.get(f"{{{OASIS}:text:1.0}}c", "1"))}.get(tag, "")
    return own + (node.text or "") + "".join(odt_words(one) + (one.tail or "") for one in node)


def read(path):
    with zipfile.ZipFile(path) as package:
        if path.endswith(".xlsx"):
            return read_sheet(package)
        if path.endswith(".docx"):
            return [docx_words(one) for one in xml.fromstring(package.read("word/document.xml")).iter(f"{{{WORDS}}}p")]
        text = xml.fromstring(package.read("content.xml")).find(f".//{{{OASIS}:office:1.0}}text")
        return [odt_words(one) for one in text.iter() if one.tag in (f"{{{OASIS}:text:1.0}}p", f"{{{OASIS}:text:1.0}}h")]


if sys.argv[1] == "new":
    suffix = sys.argv[2].rpartition(".")[2]
    paragraphs = [] if suffix == "xlsx" else sys.stdin.read().split("\n")
    with zipfile.ZipFile(sys.argv[2], "w") as package:
        for name, content in new_files(suffix, paragraphs).items():
            package.writestr(name, content)
else:
    json.dump(read(sys.argv[2]), sys.stdout)
