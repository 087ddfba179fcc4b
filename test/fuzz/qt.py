#!/usr/bin/python3
"""The same as gtk3.py in Qt 6 (or Qt 5 with --qt5). Widget rows are plain frames: they report nothing else about
themselves."""

import os
import subprocess
import sys
import time

sys.path.append(os.path.join(os.path.dirname(__file__), "../fixtures"))
from fixture import listen_in_qt, write  # noqa: E402

if "--qt5" in sys.argv:
    from PyQt5 import QtCore, QtGui, QtWidgets

    VERSION = 5
else:
    from PyQt6 import QtCore, QtGui, QtWidgets

    VERSION = 6

Qt = QtCore.Qt
ID = 0x0101
state = {"sections": {"Alpha": [], "Beta": []}, "rows": [], "model": [], "filter": ""}
widgets = {}
parts = {}


class Watcher(QtCore.QObject):
    def __init__(self, thing, widget):
        super().__init__(widget)
        self.thing = thing
        self.target = widget
        widget.installEventFilter(self)

    def eventFilter(self, _, event):
        armed = parts.get("armed")
        if event.type() == QtCore.QEvent.Type.Enter and armed and armed["id"] == self.thing.id:
            parts["armed"] = None
            write(entered=self.thing.id)
            for op in armed["ops"]:
                cover(op["id"], self.target) if op["op"] == "cover" else apply(op)
        return False


def cover(id, widget):
    button = parts["cover"] = QtWidgets.QPushButton("Cover", parts["window"])
    button.setGeometry(QtCore.QRect(widget.mapTo(parts["window"], QtCore.QPoint(0, 0)), widget.size()))
    button.clicked.connect(lambda *_: write(hit=id))
    button.show()
    button.raise_()


class Thing:
    def __init__(self, kind, id, name):
        self.id = id
        self.widget = (QtWidgets.QCheckBox if kind == "checkbox" else QtWidgets.QPushButton)(name)
        # An assistive program toggles a check box without a click.
        hit = self.widget.toggled if kind == "checkbox" else self.widget.clicked
        hit.connect(lambda *_: write(hit=self.id))
        self.watcher = Watcher(self, self.widget)

    def become(self, id, name):
        self.id = id
        self.widget.setText(name)


class Row:
    def __init__(self, id, text):
        self.id = id
        self.widget = QtWidgets.QFrame()
        self.label = QtWidgets.QLabel(text)
        button = QtWidgets.QPushButton("Open")
        button.clicked.connect(lambda *_: write(hit=self.id))
        self.watcher = Watcher(self, button)
        box = QtWidgets.QHBoxLayout(self.widget)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.label)
        box.addWidget(button)
        box.addStretch(1)

    def become(self, id, text):
        self.id = id
        self.label.setText(text)


def item_of(id, text):
    item = QtGui.QStandardItem(text)
    item.setData(id, ID)
    item.setEditable(False)
    return item


def build():
    window = QtWidgets.QWidget()
    window.setWindowTitle(f"Fuzz qt{VERSION}")
    window.resize(900, 760)
    outer = QtWidgets.QVBoxLayout(window)
    for name in ("Alpha", "Beta"):
        group = QtWidgets.QGroupBox(name)
        parts[name] = QtWidgets.QHBoxLayout(group)
        outer.addWidget(group)
        for thing in state["sections"][name]:
            widgets[thing["id"]] = Thing(**thing)
            parts[name].addWidget(widgets[thing["id"]].widget)
    rows = QtWidgets.QWidget()
    parts["rows"] = QtWidgets.QVBoxLayout(rows)
    parts["rows"].setSpacing(0)
    for row in state["rows"]:
        widgets[row["id"]] = Row(**row)
        parts["rows"].addWidget(widgets[row["id"]].widget)
    outer.addWidget(rows)
    parts["store"] = QtGui.QStandardItemModel()
    for item in state["model"]:
        parts["store"].appendRow(item_of(**item))
    parts["shown"] = QtCore.QSortFilterProxyModel()
    parts["shown"].setSourceModel(parts["store"])
    parts["shown"].setFilterFixedString(state["filter"])
    view = parts["view"] = QtWidgets.QListView()
    view.setModel(parts["shown"])
    view.selectionModel().selectionChanged.connect(selected)
    outer.addWidget(view, 1)
    window.show()
    parts["window"] = window


def selected(*_):
    for index in parts["view"].selectionModel().selectedIndexes():
        if not parts.get("quiet"):
            write(hit=index.data(ID))


def row_at(id):
    store = parts["store"]
    return next(i for i in range(store.rowCount()) if store.item(i).data(ID) == id)


def apply(op):
    what = op["op"]
    if what == "add":
        widgets[op["id"]] = Thing(op["kind"], op["id"], op["name"])
        parts[op["section"]].insertWidget(op["index"], widgets[op["id"]].widget)
    elif what == "remove":
        widget = widgets.pop(op["id"]).widget
        widget.setParent(None)
        widget.deleteLater()
    elif what == "move":
        widget = widgets[op["id"]].widget
        widget.parentWidget().layout().removeWidget(widget)
        parts[op["section"]].insertWidget(op["index"], widget)
    elif what == "name":
        widgets[op["id"]].become(op["id"], op["name"])
    elif what == "become":
        widgets[op["new"]] = widgets.pop(op["id"])
        widgets[op["new"]].become(op["new"], op["name"])
    elif what == "row-add":
        widgets[op["id"]] = Row(op["id"], op["text"])
        parts["rows"].insertWidget(op["index"], widgets[op["id"]].widget)
    elif what == "row-move":
        widget = widgets[op["id"]].widget
        parts["rows"].removeWidget(widget)
        parts["rows"].insertWidget(op["index"], widget)
    elif what == "row-text":
        widgets[op["id"]].become(op["id"], op["text"])
    elif what == "row-become":
        widgets[op["new"]] = widgets.pop(op["id"])
        widgets[op["new"]].become(op["new"], op["text"])
    elif what == "model-add":
        parts["store"].insertRow(op["index"], item_of(op["id"], op["text"]))
    elif what == "model-remove":
        parts["store"].removeRow(row_at(op["id"]))
    elif what == "model-move":
        item = parts["store"].takeRow(row_at(op["id"]))
        parts["store"].insertRow(op["index"], item)
    elif what == "model-text":
        parts["store"].item(row_at(op["id"])).setText(op["text"])
    elif what == "model-reset":
        parts["store"].clear()
        for item in op["items"]:
            parts["store"].appendRow(item_of(**item))
    elif what == "filter":
        state["filter"] = op["text"]
        parts["shown"].setFilterFixedString(op["text"])
    elif what == "scroll":
        index = parts["shown"].index(op["index"], 0)
        parts["view"].scrollTo(index, QtWidgets.QAbstractItemView.ScrollHint.PositionAtTop)
    elif what == "reopen":
        parts["window"].close()
        parts["window"].deleteLater()
        state.update(op["state"])
        widgets.clear()
        build()
    elif what == "hide":
        parts["window"].hide()
        await_manager(is_shown=False)
    elif what == "show":
        parts["window"].show()
        await_manager(is_shown=True)
    elif what == "arm":
        parts["armed"] = op
    elif what == "disarm":
        parts["armed"] = None
        if parts.get("cover"):
            parts.pop("cover").deleteLater()
    else:
        raise ValueError(what)


def await_manager(is_shown):
    """Waits for the window manager. It ignores a window that shows again before the manager has released it."""
    end = time.monotonic() + 10
    ask = ["xprop", "-id", str(int(parts["window"].winId())), "WM_STATE"]
    while time.monotonic() < end:
        app.processEvents()
        answer = subprocess.run(ask, capture_output=True, text=True, check=False).stdout
        if ("Normal" in answer) == is_shown:
            return


def carry_out(command):
    parts["quiet"] = True
    parts["view"].clearSelection()
    for op in command["ops"]:
        apply(op)
    parts["view"].clearSelection()
    parts["quiet"] = False
    QtCore.QTimer.singleShot(0, lambda: QtCore.QTimer.singleShot(0, lambda: write(done=command["n"])))


app = QtWidgets.QApplication(sys.argv)
app.setApplicationName(f"fuzz-qt{VERSION}")
app.setQuitOnLastWindowClosed(False)
build()
listen_in_qt(QtCore, carry_out, app.quit)
QtCore.QTimer.singleShot(0, lambda: write(done=0))
getattr(app, "exec", getattr(app, "exec_", None))()
