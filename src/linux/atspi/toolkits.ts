import type { Extents } from "../windowing/window.ts"

/**
 * The quirks of toolkits, in one table. Other files ask for a trait (`traits.tellsLate`) and never compare a toolkit's
 * name. A new quirk is a new trait: a line in `Traits` that says what the code does because of it, and a line in each
 * toolkit that has it, with the reason.
 */

export type Toolkit =
  | "gtk2"
  | "gtk3"
  | "gtk4"
  | "qt"
  | "chromium"
  | "firefox"
  | "libreoffice"
  | "java"
  | "other"

/** Behaviour that differs from plain AT-SPI. An absent trait means: as the specification says. */
export interface Traits {
  // Coordinates

  /**
   * Extents and hit tests count from the corner of the window, if asked for the window's coordinates, or even if asked
   * for the screen's ("surface"). Absent: from the corner of the screen.
   */
  readonly coordinates?: "window" | "surface"
  /** The invisible border around a window of Wayland that its coordinates include, if it has one. */
  readonly shadow?: Extents
  /** The title bar and border that it draws itself if the compositor does not. Its coordinates count from inside. */
  readonly ownFrame?: Extents
  /** A root pane below a native menu bar reports coordinates as if the menu bar were not there. */
  readonly rootPaneIgnoresMenuBar?: true
  /** Coordinates of drawn widgets and of the native widgets around them do not agree. */
  readonly mixesCoordinates?: true
  /** A row that is scrolled away reports where it would be, which may be on top of something else. */
  readonly scrolledRowsKeepCoordinates?: true

  // Hit tests

  /** A hit test returns the topmost object. Absent: the first one that contains the point, which is the lowest. */
  readonly hitTestFindsTopmost?: true
  /** A hit test finds the page below a popup. */
  readonly hitTestMissesPopups?: true
  /** The first hit test is a guess. It has to be repeated this many times, each after a wait. */
  readonly hitTestGuesses?: { readonly repeat: number; readonly afterMs: number }
  /** Lines of text, and boxes around them, overlap without covering each other. */
  readonly textBoxesOverlap?: true
  /** A window with a modal dialog in it lists the dialog instead of its content. */
  readonly modalDialogReplacesContent?: true
  /** A modal dialog over a page is another page in the same place. */
  readonly pageDialogIsItsOwnPage?: true
  /** A popup has no ancestor that identifies it as one. */
  readonly popupsAreDetached?: true

  // Trees

  /** The state of its cache of all objects. Absent: it has none, or none that can be read; every object is asked. */
  readonly cache?: "partial" | "made when listened to" | "woken by listening"
  /** The list has the name, role and states that an object has at the moment when the list is asked for. */
  readonly listIsCurrent?: true
  /** Questions about objects that are gone are refused, and no later object gets their address. */
  readonly goneObjectsRefuse?: true
  /**
   * The class of an object decides its interfaces. A cell of a class with text or a picture has no children, nor has one
   * with an action `toggle`, which it keeps.
   */
  readonly classesTell?: true
  /** Reading takes so many questions that a connection past the bus daemon pays. */
  readonly needsManyQuestions?: true
  /** A window without children is one whose app was started without accessibility, or has just started. */
  readonly emptyWindowIsMute?: true
  /** The first question makes the app build the objects of its pages; until then their frame is empty. */
  readonly pagesComeWhenAsked?: true
  /** The facts that a window was matched by are not all that a tree needs of it. */
  readonly windowIsReadAgain?: true
  /** GetChildAtIndex counts other children than GetChildren lists. */
  readonly childAtIndexMiscounts?: true
  /** All rows of a list box exist. A hit test asks for each of them, and takes longer than listing them. */
  readonly listBoxHasAllRows?: true
  /** While a cell is edited, no cell knows its index. Its name still is its address; see placeNamed in grid.ts. */
  readonly editingHidesIndexes?: true
  /** A menu's items hang under the item that opens it, which is SELECTED for as long as they show. */
  readonly openMenuIsSelected?: true
  /** An open menu or list is a frame without a name, which is a popup and not a window of the window manager. */
  readonly menusAreFrames?: true
  /** A context menu is in no tree; an event reports that it opens. */
  readonly contextMenusAreInNoTree?: true
  /** Objects have numbers for addresses, from this one on: those in no tree can be found by their places. */
  readonly objectsAreNumberedFrom?: number
  /** Changes reach the accessibility tree up to this many milliseconds after they show. */
  readonly tellsLate?: number
  /** The cells of a table keep their texts when its rows change places and the app does not report it. See rows.ts. */
  readonly cellsKeepTexts?: true
  /** A control that an app draws itself is a panel without parts, and has a tool tip for a description. */
  readonly drawnControlsArePanels?: true
  /** The description of a slider is its value, as it is drawn. */
  readonly slidersDescribeTheirValue?: true
  /** A cell has a part for each renderer, also for those that draw nothing. Such a part has no width. */
  readonly cellsMayBeUndrawn?: true
  /**
   * A list view creates objects for some rows of its model, at least this many in a list and in a grid, and does not
   * report how many rows there are. See model-rows.ts.
   */
  readonly rowsMade?: { readonly list: number; readonly grid: number }
  /** A list view shows nothing after its first movement if that leads to rows without widgets. */
  readonly jumpsShowNothing?: true
  /** A scroll bar counts pixels and does not report how far one step goes. */
  readonly barsCountPixels?: true
  /** Rows that get new objects for the same content. Absent: those of a parent that manages its descendants. */
  readonly rowsAreRecycled?: "always" | "in item views"

  /** Every cell of a table, in view or not, can be asked for by row and column. Absent: its rows are in its tree. */
  readonly tablesAnswerByCell?: true
  /** A table may say how many rows and columns its app has, and which of them it shows. */
  readonly pagesCountRows?: true
  /** A row has a number only if it is not the one of its place among its siblings. */
  readonly rowsInPlaceLackNumbers?: true
  /** A table with columns holds a list, which holds its rows. */
  readonly columnViewsHoldLists?: true

  // Facts that need not, or must, be asked for

  /** Text and structure always have the same interfaces, which need not be asked for. */
  readonly textInterfacesAreFixed?: true
  /** Plain structure may hold text, without objects for the texts in it. */
  readonly structureHoldsText?: true
  /** A separator may have a name. */
  readonly separatorsHaveNames?: true
  /** A menu item's first action has its keyboard shortcut. */
  readonly menuItemsHaveShortcuts?: true
  /** A menu item holds a text with its name, and another one with its keyboard shortcut if it has one. */
  readonly menuItemsHoldShortcuts?: true
  /** Elements that are not interactive by role but whose actions are worth a question. Absent: all of them. */
  readonly asksForActions?: "nowhere" | "of labels" | "of page content"
  /** The first action alone shows whether a click does something. */
  readonly firstActionTells?: true

  // Roles

  /** A modal panel is a popover. */
  readonly modalPanelIsPopover?: true
  /** Fillers of these names draw their content, and have no objects for it. */
  readonly drawnWidgets?: readonly string[]
  /** A filler whose name ends in Popover is one. */
  readonly popoverIsFiller?: true
  /** An item of a list is a label that is SELECTABLE. */
  readonly optionsAreLabels?: true
  /** An item of a list is SELECTABLE only while it is selected. */
  readonly selectableOnlyWhileSelected?: true
  /** A list with a Table interface shows a model, and its items can be selected. */
  readonly modelListIsTable?: true
  /** A label is an element around a text. Absent: it is the text. */
  readonly labelsHoldText?: true
  /** A button inside a button opens a menu; the outer one is only a box around it. */
  readonly menuButtonIsNested?: true
  /** The difference between a switch and a toggle button or check box. Absent: the role. */
  readonly switchIs?: "a checkable toggle button" | "a toggle button without parts" | "a childless check box"

  /** The name of the box around a button that chooses a colour. */
  readonly colorButton?: string
  /** A box of a page that can be dragged is a panel, without a role of the page's own. */
  readonly draggablesArePanels?: true
  /** Shapes in documents, and slides in their overview, are SELECTABLE and offer no action: a click selects them. */
  readonly shapesAreSelectable?: true
  /** A field that is drawn into a native area is a panel that claims to be DEFUNCT, with a paragraph that lives. */
  readonly drawnFieldsLookDefunct?: true
  /** A field that drops a list down is a nameless button. Its combo box is hidden and has no items. */
  readonly dropDownsAreButtons?: true
  /** A field for a time is a panel that can be edited. */
  readonly timeFieldsArePanels?: true

  // Names and texts

  /** A widget without a name reports its class as one, and every tab is named "Tab". */
  readonly namesFallBackToClass?: true
  /** Names and descriptions may be rich text. */
  readonly textMayBeMarkup?: true
  /** A combo box is named by what it holds. */
  readonly comboNameIsValue?: true
  /** A cell of a grid is named by its column and an empty row; its content is its text. */
  readonly gridCellsAreNamedByColumn?: true
  /** A cell of a sheet can be EDITABLE, and takes text from the keyboard only. */
  readonly sheetCellsAreTypedOver?: true
  /**
   * While a cell of a sheet is edited, a panel shows its text in a paragraph. A text that is set there shows and is not
   * entered. Keys go to the cell.
   */
  readonly editedCellsAreCopied?: true
  /** A text that is set in a table on a slide shows and is not saved: it has to be typed. */
  readonly slideTextsAreNotSaved?: true
  /**
   * A cell may have an editor, which is in no tree. It opens with F2 in the current cell, or with a click on a cell of
   * the row that has the cursor. No cell says that it can be edited. In one that cannot, F2 may be a shortcut of the
   * app, and a click opens the row in a view that activates rows on a single click.
   */
  readonly cellsAreEditedBy?: "F2" | "click"
  /** A tool button is alone in an item that has its tooltip. */
  readonly toolItemHasTooltip?: true

  // States

  /** A menu that has closed may stay SHOWING. It is not VISIBLE. */
  readonly closedMenusKeepShowing?: true
  /** SHOWING is not reported: an element that was never given any room is hidden. */
  readonly lacksShowing?: true
  /** Items of an open menu are not SHOWING, and items of a closed one keep their places. Only the popup on the screen shows which is open. */
  readonly shownItemsLackShowing?: true
  /** The same for items of trees: VISIBLE is used in place of SHOWING. */
  readonly treeItemsLackShowing?: true
  /** A read-only element is neither ENABLED nor SENSITIVE, and a disabled one is not READ_ONLY. */
  readonly readOnlyLooksDisabled?: true
  /**
   * How to distinguish an element that is scrolled out of view from a hidden one. It is VISIBLE without SHOWING:
   * anywhere, on a page that shows, or in a pane that scrolls. Or it claims to show, and only its position decides;
   * then list items that are out of view are not even VISIBLE. Absent: they cannot be distinguished.
   */
  readonly outOfView?: "visible" | "visible in pages" | "visible in panes" | "by place"
  /** An element around others may not be SHOWING although they are. */
  readonly unshownMayHoldShown?: true
  /** A box that claims no area, or one off the screen, is not SHOWING. The widgets in it have places of their own. */
  readonly boxesMayClaimNoPlace?: true
  /** VISIBLE without SHOWING means scrolled away, or hidden with a page or a panel: the ancestors decide. */
  readonly ancestorsTellPages?: true
  /** No tab is SELECTED. The page of the current one is SHOWING. */
  readonly tabsLackSelected?: true
  /** A combo box does not say if it is open, and its first child is the list, which shows only then. */
  readonly comboListTells?: true
  /**
   * A cell with a check mark is CHECKED or nothing at all, and has an action `toggle`. The app says that it did that
   * action, and does nothing.
   */
  readonly checkCellsToggle?: true
  /** Options of a closed list are not even VISIBLE. */
  readonly closedOptionsLookHidden?: true
  /** A push button is PRESSED only for as long as it is held down. */
  readonly pressedMeansHeld?: true
  /** The current tab or row is FOCUSED, with or without the keyboard. */
  readonly currentItemClaimsFocus?: true
  /** The same for items of trees. */
  readonly currentTreeItemClaimsFocus?: true

  // Clicks

  /** The way to expand an element that has no action for it. */
  readonly disclosure?: "indentation" | "start of a toggle button" | "arrow keys"
  /** Check boxes and radio buttons react only to clicks on their box and text, however wide they are. */
  readonly boxesHearTheirTextOnly?: true
  /** The app misbehaves if an item is pressed while its menu is closed. */
  readonly itemsNeedOpenMenu?: true
  /** The mark of a menu item is updated when its menu opens: in a closed menu it may be outdated. */
  readonly closedItemsKeepMarks?: true
  /** The activation of a field is a click into it. Absent: its Enter key. */
  readonly fieldActivationIsClick?: true

  // Actions

  /**
   * A press through the bus holds the button down for this long. It takes effect when the button comes up, and another
   * press until then is lost. `isReported`: the button is PRESSED meanwhile.
   */
  readonly pressHold?: { readonly ms: number; readonly isReported: boolean }
  /**
   * The action of a menu item is not the choice of a user: the menu stays open, and a program that waits for a choice
   * gets none. In an open menu the pointer chooses.
   */
  readonly itemActionLeavesMenuOpen?: true
  /** A field without a label of its own has the title of the frame around it as its name. */
  readonly framesNameFields?: true
  /**
   * The action of a check box, a radio button or a button that stays down changes its state, but the app is not notified
   * of a click, and may do nothing.
   */
  readonly toggleIsNoClick?: true
  /** An action on a button that stays down does not release it. */
  readonly downStaysDown?: true
  /** The app reads nothing more from a connection until the call that came by it returns. */
  readonly callBlocksConnection?: true
  /** A row that takes the focus is itself a control, as in a treegrid. Elsewhere its cells are. */
  readonly rowsTakeFocus?: true
  /** The name of a tab ends in the memory that its page takes, which changes all the time. */
  readonly tabsTellMemory?: true
  /** The unit of offsets in a text. Absent: characters. */
  readonly offsetsIn?: "utf-16"
  /** The unit of offsets in a selection that is made, if it differs from that of all others. */
  readonly selectsIn?: "utf-16"
  /** A caret that is placed beside a selection extends it. */
  readonly caretExtendsSelection?: true
  /** A selection is made where there is none, and not changed. */
  readonly setSelectionIsIgnored?: true
  /** The unit of a text's length in InsertText. Absent: bytes of UTF-8. */
  readonly textLengthIn?: "utf-16"
  /** InsertText at the caret leaves the caret before the text. */
  readonly caretStaysBeforeInsertion?: true
  /** On Wayland, a key cannot enter a character above U+FFFF: another one comes out. */
  readonly nativeKeysAreUtf16?: true
  /** A window is active only from the second time on that it gets the focus. */
  readonly newWindowsLackActive?: true
  /** Changes through EditableText are acknowledged and not made. */
  readonly editableTextIsIgnored?: true
  /** A number set into a field does not reach the page. */
  readonly fieldNumbersAreUnheard?: true
  /** A number set into a slider or spin button that a page has built does not reach the page. */
  readonly pageNumbersAreUnheard?: true
  /** A number set into an empty field is acknowledged and not shown. */
  readonly emptyFieldsIgnoreNumbers?: true
  /** A number set into a spin button without EditableText shows, and does not reach macros. */
  readonly spinNumbersAreUnheard?: true
  /** Changes through Selection are acknowledged and not made. */
  readonly selectionIsIgnored?: true
  /** A list that takes several options need not be MULTISELECTABLE. */
  readonly listsLackMultiselectable?: true
  /** A list of options without a Text interface, such as a palette of colours, marks one without notifying its app. */
  readonly paletteSelectionIsUnheard?: true
  /** A selection in the list of a combo box only marks it. One in the combo box is a choice. */
  readonly comboChooses?: true
  /** A selection in the list of a combo box is not a choice of the combo box. */
  readonly comboSelectionIsIgnored?: true
  /** A selection in the list of a field shows, and the field keeps its old text. */
  readonly fieldListSelectionIsIgnored?: true
  /** GrabFocus in a window that is behind others leaves it there. Absent: it may raise the window. */
  readonly focusStaysBehind?: true
  /** The app may crash if its last client leaves the accessibility bus while it handles a key. */
  readonly needsLastingClient?: true
}

const GTK2: Traits = {
  // Gail compares an item with the area of the widget that it hangs on, which is not its window.
  shownItemsLackShowing: true,
  // gail_widget_all_parents_visible is behind SHOWING, with the viewports above.
  outOfView: "visible in panes",
  ancestorsTellPages: true,
  tabsLackSelected: true,
}

const GTK3: Traits = {
  // Also cells of rows that are scrolled away. GtkTreeView does not count the rows inside a collapsed one.
  tablesAnswerByCell: true,
  // Adwaita's, around windows with a title bar of their own. Another theme's does not fit, and leaves the place unknown.
  shadow: { left: 26, right: 26, top: 23, bottom: 29 },
  // GtkListBox. With 1,000 rows, a hit test takes 70 ms.
  listsLackMultiselectable: true,
  listBoxHasAllRows: true,
  // GtkPopover is a panel, and nothing else that is MODAL is one.
  modalPanelIsPopover: true,
  // A toggle button can hold a picture and a text, its switch cannot.
  switchIs: "a toggle button without parts",
  // Only LibreOffice has a root pane, under every name by which it is started.
  rootPaneIgnoresMenuBar: true,
  // Items stay in the tree while the menu is closed.
  openMenuIsSelected: true,
  menuItemsHaveShortcuts: true,
  // Afterwards the element with the focus does not report it any more, until it gets it again.
  itemsNeedOpenMenu: true,
  // GtkToolItem is a panel around GtkToolButton's button.
  toolItemHasTooltip: true,
  // One that is attached to a widget, unless that widget lists it.
  contextMenusAreInNoTree: true,
  // The bridge counts.
  objectsAreNumberedFrom: 1,
  // gtk_widget_get_mapped is behind SHOWING, and its own part of the window's visible area as well.
  ancestorsTellPages: true,
  // Only a widget with a window of its own cuts its children off.
  boxesMayClaimNoPlace: true,
  outOfView: "visible in panes",
  // A menu, unless the app asks for a list.
  comboListTells: true,
  // GtkBooleanCellAccessible
  checkCellsToggle: true,
  // An expander fills the width, but reacts only to clicks on its arrow and label.
  disclosure: "start of a toggle button",
  // The bridge dispatches from the connection's own handler; a modal dialog there would shut out every client.
  callBlocksConnection: true,
  // The bridge makes one when a client first listens to its events, and keeps it from then on.
  cache: "made when listened to",
  // append_cache_item asks the object for its name, role and states.
  listIsCurrent: true,
  // The bridge looks an object up by its number, which counts up.
  goneObjectsRefuse: true,
  // spi_object_append_interfaces asks for the type of the object (ATK_IS_TEXT and so on). GtkContainerCellAccessible is the
  // only cell with children; GtkBooleanCellAccessible, GtkTextCellAccessible and GtkImageCellAccessible are other classes.
  classesTell: true,
  // GtkTreeViewAccessible renews a cell when the model says that its row changed. GtkTreeView draws what is in the model,
  // also if the model says nothing, or reports a new order for a wrong path as Thunar does.
  cellsKeepTexts: true,
  // GtkCellRenderer:visible differs from row to row; GtkCellAccessible is SHOWING in every row.
  cellsMayBeUndrawn: true,
  // GtkScaleAccessible, if it draws its value.
  slidersDescribeTheirValue: true,
  // wxWidgets; Audacity's buttons are such panels.
  drawnControlsArePanels: true,
  // A click in a row that is selected already. Enter and a double click would open the row of a cell without an editor.
  // The accessible `edit` emits a signal that GtkTreeView does not have (real-select-cursor-row).
  cellsAreEditedBy: "click",
}

const GTK4: Traits = {
  // Of a text view; SetSelection answers true.
  setSelectionIsIgnored: true,
  // GtkColumnView has a GtkListView for its rows.
  columnViewsHoldLists: true,
  // GtkListBox.
  listsLackMultiselectable: true,
  // It does not know the screen's, and logs a warning when it is asked for them.
  coordinates: "window",
  // gtk_widget_pick: what a click would reach.
  hitTestFindsTopmost: true,
  // Objects are made when they are asked for; the cache lists the ones made so far.
  cache: "partial",
  // The cache has more about the window than the questions that match it to one of the screen.
  windowIsReadAgain: true,
  childAtIndexMiscounts: true,
  // GTK_LIST_VIEW_MAX_LIST_ITEMS in gtklistview.c; GTK_GRID_VIEW_MAX_VISIBLE_ROWS in gtkgridview.c, with one column.
  rowsMade: { list: 200, grid: 30 },
  // Before 4.12: the first change of its adjustment does not move the range of rows with widgets.
  jumpsShowNothing: true,
  barsCountPixels: true,
  // List views take rows out and put them back as new objects.
  rowsAreRecycled: "always",
  // Every object has an Action interface.
  asksForActions: "nowhere",
  // The list of files in a file dialog is the first. Of its rows, only the column titles are accessible.
  drawnWidgets: ["GtkTreeView", "GtkIconView", "GtkDrawingArea", "GtkGLArea"],
  // GtkPopover has the role of a filler, and its class for a name.
  popoverIsFiller: true,
  selectableOnlyWhileSelected: true,
  // GtkMenuButton is a widget around a GtkToggleButton.
  menuButtonIsNested: true,
  // A widget around a GtkButton; its name is its class.
  colorButton: "GtkColorButton",
  // A check button is built of an indicator and a label, a switch of nothing.
  switchIs: "a childless check box",
  namesFallBackToClass: true,
  // GtkModelButton.
  menuItemsHoldShortcuts: true,
  // Before 4.10.
  lacksShowing: true,
  outOfView: "by place",
  // gtk_editable_insert_text leaves it to the caller.
  caretStaysBeforeInsertion: true,
  // gtk_widget_activate animates the press of a button (ACTIVATE_TIMEOUT in gtkbutton.c), from before it answers.
  pressHold: { ms: 250, isReported: false },
}

const QT: Traits = {
  // QWaylandBradientDecoration::margins.
  ownFrame: { left: 3, right: 3, top: 30, bottom: 3 },
  // QAbstractItemView, with the whole model.
  tablesAnswerByCell: true,
  // Its item views make a new object for a row whenever they are asked.
  rowsAreRecycled: "in item views",
  // Every object has an Action interface.
  asksForActions: "of labels",
  // Qt 5 does not say that such a list takes the focus.
  modelListIsTable: true,
  // Tool tips often are, and Qt hands them on unchanged.
  textMayBeMarkup: true,
  comboNameIsValue: true,
  // QAccessibleWidget: buddyString, and the relation to the group box.
  framesNameFields: true,
  // QWidget::isVisible is behind both states, and the rectangle of its view behind those of an item.
  outOfView: "by place",
  // A button that stays down is a check box there.
  pressedMeansHeld: true,
  currentItemClaimsFocus: true,
  // A click on the indentation before a tree's item counts as one on its arrow.
  disclosure: "indentation",
  // QAbstractButton::animateClick, which the accessible press action calls.
  pressHold: { ms: 100, isReported: true },
  // ExtendedSelection has no state in AT-SPI.
  listsLackMultiselectable: true,
  // Popups are not among the windows of the application, nor among the children of the widget that they belong to.
  contextMenusAreInNoTree: true,
  // QAccessibleCache::acquireId.
  objectsAreNumberedFrom: 2 ** 31,
  // QAbstractButton::toggle, without its signal clicked and without the action of a tool button.
  toggleIsNoClick: true,
  // QAction::trigger, without QMenu's own part.
  itemActionLeavesMenuOpen: true,
  // It pads a text that is shorter than the given length.
  textLengthIn: "utf-16",
  // QString.
  offsetsIn: "utf-16",
  comboSelectionIsIgnored: true,
  // QWidget::setFocus; the window shows it when it comes to the front.
  focusStaysBehind: true,
  // QAbstractItemView::EditKeyPressed, which is one of the triggers by default.
  cellsAreEditedBy: "F2",
}

/** Pages have the same elements in every browser. */
const PAGES: Traits = {
  rowsTakeFocus: true,
  // aria-rowcount, aria-rowindex.
  pagesCountRows: true,
  // The process of the page reports changes to the process of the tree.
  tellsLate: 400,
  // An element that a page hides and shows again is a new object.
  rowsAreRecycled: "always",
  // Every node has the interface, and one action.
  asksForActions: "of page content",
  firstActionTells: true,
  // role=slider, role=spinbutton.
  pageNumbersAreUnheard: true,
  // <label>
  labelsHoldText: true,
  // role=switch; a toggle button with aria-pressed is not CHECKABLE.
  switchIs: "a checkable toggle button",
  // The pattern that ARIA prescribes for trees.
  disclosure: "arrow keys",
}

const CHROMIUM: Traits = {
  ...PAGES,
  rowsInPlaceLackNumbers: true,
  // After the first step of a smooth scroll, the next report comes half a second later.
  tellsLate: 650,
  // <input type="number">
  emptyFieldsIgnoreNumbers: true,
  tabsTellMemory: true,
  // It refuses an end that is behind the number of characters, so with an emoji the end of a text cannot be selected.
  selectsIn: "utf-16",
  shadow: { left: 16, right: 16, top: 10, bottom: 32 },
  // Its ozone keeps the low 16 bits of the character.
  nativeKeysAreUtf16: true,
  // Version 156, on Wayland.
  newWindowsLackActive: true,
  // The browser process answers from its copy, and asks the page meanwhile: a later answer is true.
  hitTestGuesses: { repeat: 2, afterMs: 50 },
  textBoxesOverlap: true,
  popupsAreDetached: true,
  menusAreFrames: true,
  // AXNodeObject gives an element without a role one if it has a draggable attribute.
  draggablesArePanels: true,
  // alert(), and the questions of the browser itself.
  modalDialogReplacesContent: true,
  // A client that listens to events makes it keep one.
  cache: "woken by listening",
  needsManyQuestions: true,
  // It needs --force-renderer-accessibility, or its environment to say that accessibility is on.
  emptyWindowIsMute: true,
  textInterfacesAreFixed: true,
  // <hr aria-label>
  separatorsHaveNames: true,
  readOnlyLooksDisabled: true,
  outOfView: "visible",
  closedOptionsLookHidden: true,
  fieldActivationIsClick: true,
  // AtkUtilAuraLinux::HandleAtkKeyEvent goes through its key listeners. The bridge is one of them: it waits for the
  // registry meanwhile, and removes itself if its last client leaves. Version 156.
  needsLastingClient: true,
}

const FIREFOX: Traits = {
  ...PAGES,
  offsetsIn: "utf-16",
  pagesComeWhenAsked: true,
  // The list of suggestions for a field.
  hitTestMissesPopups: true,
  // A box that comes later in a page may be below, by its z-index.
  textBoxesOverlap: true,
  // Those for dates have a role of their own.
  timeFieldsArePanels: true,
  // alert(), confirm(), prompt().
  pageDialogIsItsOwnPage: true,
  structureHoldsText: true,
  // Its own menu bar is VISIBLE while it is hidden, and so is a page in another tab.
  outOfView: "visible in pages",
  // The list of suggestions for a field.
  closedMenusKeepShowing: true,
  // display: contents
  unshownMayHoldShown: true,
  editableTextIsIgnored: true,
  fieldNumbersAreUnheard: true,
  selectionIsIgnored: true,
  comboSelectionIsIgnored: true,
}

/** LibreOffice draws most widgets itself, inside windows of another toolkit. Its quirks come on top of that one's. */
const DRAWN: Traits = {
  caretExtendsSelection: true,
  // OUString.
  offsetsIn: "utf-16",
  mixesCoordinates: true,
  scrolledRowsKeepCoordinates: true,
  // One object per cell and paragraph.
  needsManyQuestions: true,
  editingHidesIndexes: true,
  gridCellsAreNamedByColumn: true,
  // They have a Value interface for numbers, and a Text interface that shows what was entered last.
  sheetCellsAreTypedOver: true,
  editedCellsAreCopied: true,
  // Impress exports the text from before, also after another change.
  slideTextsAreNotSaved: true,
  // Also the pages of Draw.
  shapesAreSelectable: true,
  // Calc's input line: an object without a parent of LibreOffice's own counts as gone, and its parent is GTK's.
  drawnFieldsLookDefunct: true,
  // GtkInstanceComboBox.
  dropDownsAreButtons: true,
  treeItemsLackShowing: true,
  currentTreeItemClaimsFocus: true,
  boxesHearTheirTextOnly: true,
  downStaysDown: true,
  closedItemsKeepMarks: true,
  spinNumbersAreUnheard: true,
  fieldListSelectionIsIgnored: true,
  // ValueSet: its accessible selection does not call the handler that a click calls.
  paletteSelectionIsUnheard: true,
}

export const TRAITS: Readonly<Record<Toolkit, Traits>> = {
  gtk2: GTK2,
  gtk3: GTK3,
  gtk4: GTK4,
  qt: QT,
  chromium: CHROMIUM,
  firefox: FIREFOX,
  // Reading its cache has crashed it. The cells that it draws itself report what they show.
  libreoffice: {
    ...GTK3,
    ...DRAWN,
    cache: undefined,
    listBoxHasAllRows: undefined,
    contextMenusAreInNoTree: undefined,
    goneObjectsRefuse: undefined,
    classesTell: undefined,
    cellsKeepTexts: undefined,
    drawnControlsArePanels: undefined,
    comboListTells: undefined,
    cellsAreEditedBy: undefined,
  },
  // Swing: Component.isShowing is behind SHOWING, wherever a pane is scrolled.
  java: {
    outOfView: "by place",
    // The component that draws the items of a JList is a JLabel.
    optionsAreLabels: true,
    // JList marks an item. JComboBox chooses it, and notifies its app.
    comboChooses: true,
  },
  // Apps that do not answer.
  other: {},
}

/**
 * The traits of an app, by the ToolkitName of its Application interface and the name of the app. `isNative`: its
 * windows are native Wayland windows, which never learn their screen position.
 */
export function traitsOf(toolkitName: string, app: string, isNative = false): Traits {
  const traits = traitsAnywhere(BY_NAME.get(toolkitName) ?? "other", app)
  return isNative && !traits.coordinates ? { ...traits, coordinates: "surface" } : traits
}

function traitsAnywhere(toolkit: Toolkit, app: string): Traits {
  if (app !== LIBREOFFICE) return TRAITS[toolkit]
  return toolkit === "gtk3" ? TRAITS.libreoffice : { ...TRAITS[toolkit], ...DRAWN }
}

const LIBREOFFICE = "soffice"

/** By the names that they report. */
const BY_NAME: ReadonlyMap<string, Toolkit> = new Map([
  ["GAIL", "gtk2"],
  ["gtk", "gtk3"],
  ["GTK", "gtk4"],
  ["Qt", "qt"],
  ["Chromium", "chromium"],
  ["Gecko", "firefox"],
  ["J2SE-access-bridge", "java"],
])
