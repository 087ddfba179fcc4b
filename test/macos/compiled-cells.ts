import { by, nothing, refused, unverified, verified } from "../e2e/matrix-cell.ts"
import { answers, clicks, drags, type MacCell, WORKSHOP } from "./mac-cell.ts"

const READING: readonly MacCell[] = [
  {
    command: "snapshot",
    args: WORKSHOP,
    want: answers({ app: "Workshop", ref_count: 18, offscreen_count: 1, complete: true }),
  },
  {
    // The elements that the cells below name.
    command: "snapshot",
    args: [...WORKSHOP, "--offscreen"],
    want: answers({ ref_count: 19 }),
  },
  {
    command: "find",
    args: ["--role", "button", "--name", "Save"],
    want: answers({ total_matches: 1, matches: [{ ref_id: "@e1" }] }),
  },
  {
    command: "table",
    args: WORKSHOP,
    want: answers({ rows: [["Open drawer"], ["Shut drawer"]], row_count: 2 }),
  },
  {
    command: "set-cells",
    on: "Title",
    args: ["A1", "x"],
    want: refused("ACTION_NOT_SUPPORTED", "no_table_interface"),
  },
  { command: "get", on: "Title", args: ["value"], want: answers({ property: "value", value: "draft" }) },
  { command: "is", on: "Wrap", args: ["checked"], want: answers({ result: false, applicable: true }) },
  { command: "wait", args: ["0"], want: answers({ found: true }) },
  { command: "wait", args: ["--element", "@Save"], want: answers({ found: true, element: "@e1" }) },
  { command: "wait", args: ["--window", "Bench"], want: answers({ found: true, window: { id: "w-6101" } }) },
  { command: "wait", args: ["--text", "12 tools", ...WORKSHOP], want: answers({ found: true }) },
  {
    command: "screenshot",
    want: answers({ format: "png", width: 2880, height: 1800 }, "run screencapture"),
  },
  {
    command: "screenshot",
    args: ["--window-id", "w-6101"],
    want: answers({ width: 1400, height: 1200 }, "run screencapture"),
  },
  { command: "list-surfaces", args: WORKSHOP, want: answers({ pid: 6100 }) },
  {
    command: "list-windows",
    want: answers({ windows: [{ id: "w-6101", is_focused: true }, { id: "w-6102" }] }),
  },
  {
    command: "list-apps",
    want: answers({ apps: [{ name: "Workshop", pid: 6100, bundle_id: "org.example.workshop" }] }),
  },
  { command: "list-displays", want: answers({ displays: [{ is_primary: true, scale: 2 }, { scale: 1 }] }) },
]

const ACTING: readonly MacCell[] = [
  {
    command: "click",
    on: "Save",
    want: unverified("accessibility", "note saved", "perform save AXPress applied"),
  },
  {
    command: "double-click",
    on: "Canvas",
    want: unverified(
      "pointer",
      ...clicks("660,240", 1),
      "note canvas clicked",
      ...clicks("660,240", 2).slice(3),
      "note canvas double",
    ),
  },
  {
    command: "triple-click",
    on: "Title",
    want: verified("pointer", ...clicks("210,192", 3)),
    after: { title: { focused: true } },
  },
  {
    command: "right-click",
    on: "Save",
    want: {
      ...verified("accessibility", "perform save AXShowMenu applied"),
      data: { menu: { children: [{ name: "Copy" }] } },
    },
  },
  { command: "wait", args: ["--menu", ...WORKSHOP], want: answers({ found: true }) },
  {
    command: "click",
    on: "Copy",
    want: verified("accessibility", "perform context-copy AXPress applied"),
    after: { "context-menu": undefined },
  },
  { command: "wait", args: ["--menu-closed", ...WORKSHOP], want: answers({ found: true }) },
  {
    command: "type",
    on: "Notes",
    args: ["Grüße 👋\nzwei"],
    want: verified(
      "accessibility",
      'write notes AXSelectedText "Grüße 👋\\nzwei" applied',
      ...focused("notes", 13),
    ),
    after: { notes: { AXValue: "Grüße 👋\nzwei" } },
  },
  {
    command: "set-value",
    on: "Title",
    args: ["final"],
    want: verified("accessibility", 'write title AXValue "final" applied', ...focused("title", 5)),
    after: { title: { AXValue: "final" } },
  },
  {
    command: "clear",
    on: "Title",
    want: verified("accessibility", 'write title AXValue "" applied'),
    after: { title: { AXValue: "" } },
  },
  {
    command: "focus",
    on: "Notes",
    want: verified("accessibility", "write notes AXFocused true applied"),
    after: { notes: { focused: true } },
  },
  { command: "focus", on: "Notes", want: nothing, after: { notes: { focused: true } } },
  {
    command: "toggle",
    on: "Wrap",
    want: by("accessibility", ["perform wrap AXPress applied"], {
      proof: "verified",
      states: ["enabled", "checked"],
    }),
    after: { wrap: { AXValue: 1 } },
  },
  { command: "check", on: "Wrap", want: nothing, after: { wrap: { AXValue: 1 } } },
  {
    command: "check",
    on: "Sound",
    want: verified("accessibility", "perform sound AXPress applied"),
    after: { sound: { AXValue: 1 } },
  },
  {
    command: "uncheck",
    on: "Lines",
    want: verified("accessibility", "perform lines AXPress applied"),
    after: { lines: { AXValue: 0 } },
  },
  {
    command: "expand",
    on: "Shut drawer",
    role: "treeitem",
    want: verified("accessibility", "write drawer-shut AXDisclosing true applied"),
    after: { "drawer-shut": { AXDisclosing: true } },
  },
  {
    command: "collapse",
    on: "Open drawer",
    role: "treeitem",
    want: verified("accessibility", "write drawer-open AXDisclosing false applied"),
    after: { "drawer-open": { AXDisclosing: false } },
  },
  {
    command: "set-value",
    on: "Volume",
    args: ["70"],
    want: verified("accessibility", "write volume AXValue 70 applied", "write volume AXFocused true applied"),
    after: { volume: { AXValue: 70 } },
  },
  {
    command: "select",
    on: "Size",
    args: ["Large"],
    want: verified("accessibility", "perform size AXPress applied", "perform size-large AXPress applied"),
    after: { size: { AXValue: "Large" } },
  },
  {
    command: "scroll",
    on: "Near",
    args: ["down", "1"],
    want: verified("accessibility", "write bar AXValue 0.1 applied"),
    after: { bar: { AXValue: 0.1 } },
  },
  {
    command: "scroll-to",
    on: "Far",
    want: verified("accessibility", "perform far AXScrollToVisible applied"),
    after: { far: { shows: true } },
  },
  // A secure field shows no value, so the effect cannot be verified.
  {
    command: "type",
    on: "Password",
    args: ["s3cret"],
    want: unverified(
      "accessibility",
      "write secret AXFocused true applied",
      'write secret AXSelectedTextRange {"$range":[7,0]} applied',
      'write secret AXSelectedText "s3cret" applied',
    ),
  },
  // Text by characters, in a field with another focus before.
  {
    command: "set-value",
    on: "Title",
    args: ["draft"],
    want: verified("accessibility", 'write title AXValue "draft" applied', ...focused("title", 5)),
  },
  {
    command: "select-text",
    on: "Title",
    args: ["--match", "raf"],
    want: answers(
      { start: 1, end: 4, text: "raf", disposition: { delivery: "delivered_verified" } },
      'write title AXSelectedTextRange {"$range":[1,3]} applied',
    ),
  },
  {
    command: "caret",
    on: "Title",
    args: ["2"],
    want: answers(
      { start: 2, end: 2, disposition: { delivery: "delivered_verified" } },
      'write title AXSelectedTextRange {"$range":[2,0]} applied',
    ),
  },
  {
    command: "get",
    on: "Title",
    args: ["text", "--range", "1:3"],
    want: answers({ value: "ra", length: 5 }),
  },
]

/** The lines of the log if the field gets the focus, with the caret after its text. */
function focused(id: string, caret: number): readonly string[] {
  return [
    `write ${id} AXFocused true applied`,
    `write ${id} AXSelectedTextRange {"$range":[${caret},0]} applied`,
  ]
}

const INPUT: readonly MacCell[] = [
  {
    command: "menu",
    args: ["File > Save", ...WORKSHOP],
    want: answers({ action: "menu" }, "note saved by menu", "perform menu-save AXPress applied"),
  },
  {
    command: "press",
    args: ["cmd+s", ...WORKSHOP],
    want: by("keyboard", [
      "post flags_changed 55",
      "post key_down 1",
      "note saved by menu",
      "post key_up 1",
      "post flags_changed 55",
    ]),
  },
  { command: "press", args: ["tab"], want: by("keyboard", ["post key_down 48", "post key_up 48"]) },
  { command: "key-down", args: ["shift"], want: by("keyboard", ["post flags_changed 56"]) },
  { command: "key-up", args: ["shift"], want: by("keyboard", ["post flags_changed 56"]) },
  {
    command: "hover",
    on: "Canvas",
    want: by("pointer", ["post mouse_moved 660,240"]),
    world: { cursor: [660, 240] },
  },
  {
    command: "drag",
    args: ["--from-xy", "600,200", "--to-xy", "640,240", "--duration", "0"],
    want: by("pointer", [
      "post mouse_moved 600,200",
      "post left_down 600,200 x1",
      ...drags("610,210", "620,220", "630,230", "640,240"),
      "post left_up 640,240 x1",
      "note canvas clicked",
    ]),
  },
  { command: "mouse-move", args: ["--xy", "20,20"], want: by("pointer", ["post mouse_moved 20,20"]) },
  {
    command: "mouse-click",
    args: ["--xy", "600,200"],
    want: by("pointer", [...clicks("600,200", 1), "note canvas clicked"]),
  },
  { command: "mouse-down", args: ["--xy", "600,200"], want: by("pointer", ["post left_down 600,200 x1"]) },
  {
    command: "mouse-up",
    args: ["--xy", "600,200"],
    want: by("pointer", ["post left_up 600,200 x1", "note canvas clicked"]),
  },
  {
    command: "mouse-wheel",
    args: ["--xy", "600,400", "--dy", "1"],
    want: by("wheel", ["post mouse_moved 600,400", "post scroll 600,400 by -1"]),
  },
]

const WINDOWS: readonly MacCell[] = [
  {
    command: "focus-window",
    args: ["w-6102"],
    want: answers(
      {},
      "write #1 AXFrontmost true applied",
      "write shelf AXMain true applied",
      "perform shelf AXRaise applied",
    ),
    world: { windows: [6102, 6101] },
  },
  {
    command: "resize-window",
    args: ["w-6102", "500", "320"],
    want: answers({}, 'write shelf AXSize {"$size":[500,320]} applied'),
    after: { shelf: { frame: [820, 100, 500, 320] } },
  },
  {
    command: "move-window",
    args: ["w-6102", "850", "120"],
    want: answers({}, 'write shelf AXPosition {"$point":[850,120]} applied'),
    after: { shelf: { frame: [850, 120, 500, 320] } },
  },
  {
    command: "minimize",
    args: ["w-6102"],
    want: answers({}, "write shelf AXMinimized true applied"),
    after: { shelf: { AXMinimized: true } },
  },
  {
    command: "restore",
    args: ["w-6102"],
    want: answers({}, "write shelf AXMinimized false applied"),
    after: { shelf: { AXMinimized: false } },
  },
  {
    command: "maximize",
    args: ["w-6102"],
    want: answers(
      {},
      'write shelf AXPosition {"$point":[0,25]} applied',
      'write shelf AXSize {"$size":[1440,875]} applied',
      'write shelf AXPosition {"$point":[0,25]} applied',
    ),
    after: { shelf: { frame: [0, 25, 1440, 875] } },
  },
  {
    command: "restore",
    args: ["w-6102"],
    want: answers(
      {},
      'write shelf AXPosition {"$point":[850,120]} applied',
      'write shelf AXSize {"$size":[500,320]} applied',
      'write shelf AXPosition {"$point":[850,120]} applied',
    ),
    after: { shelf: { frame: [850, 120, 500, 320] } },
  },
]

const SYSTEM: readonly MacCell[] = [
  { command: "clipboard-get", want: answers({ text: "Hello world" }, "run pbpaste") },
  {
    command: "clipboard-set",
    args: ["copied ü"],
    want: answers({}, "pasteboard", "pasteboard"),
    world: { pasteboard: { "public.utf8-plain-text": "copied ü" } },
  },
  { command: "clipboard-clear", want: answers({}, "pasteboard"), world: { pasteboard: {} } },
  {
    command: "batch",
    args: ['[{"command":"version"},{"command":"click","args":{"ref_id":"@e99"}}]'],
    want: answers({ results: [{ ok: true }, { ok: false, error: { code: "STALE_REF" } }] }),
  },
  {
    command: "launch",
    args: ["Calculator"],
    want: answers({ id: "w-6201", title: "Calculator", pid: 6200 }, "run open"),
  },
  {
    command: "close-app",
    args: ["Calculator"],
    want: answers({ app: "Calculator", closed: true }, "quit 6200", "gone 6200"),
  },
  { command: "status", want: answers({ platform: "macos", permissions: { granted: true } }) },
  { command: "permissions", want: answers({ granted: true, accessibility: { state: "granted" } }) },
  { command: "version", want: answers({ os: "macos" }) },
  { command: "doctor", args: ["--ffi"], want: answers({ healthy: true }) },
  { command: "desktop-start", args: ["--name", "x"], want: refused("PLATFORM_NOT_SUPPORTED") },
  { command: "list-desktops", want: refused("PLATFORM_NOT_SUPPORTED") },
  { command: "desktop-stop", args: ["x"], want: refused("PLATFORM_NOT_SUPPORTED") },
]

/** Played in this order in one scene: each cell starts with the state that the cells before it left. */
export const CELLS: readonly MacCell[] = [...READING, ...ACTING, ...INPUT, ...WINDOWS, ...SYSTEM]
