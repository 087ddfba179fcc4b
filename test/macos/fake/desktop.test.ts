import { dlopen, ptr } from "bun:ffi"
import { afterEach, describe, expect, test } from "bun:test"
import { buildFake } from "./build.ts"
import {
  mac as api,
  application,
  classNamed,
  click,
  constant,
  copy,
  items,
  key,
  plain,
  post,
  read,
  send,
  stringValue,
  withString,
  write,
} from "./client.ts"
import { finish, keep, runLoop, start } from "./stage.ts"

const COMMAND = 0x100000n

afterEach(finish)

describe("windows and displays", () => {
  test("are listed front to back, as the window server sees them", () => {
    start("desktop")
    const list = (options: number) => {
      const array = api().CGWindowListCopyWindowInfo(options, 0)
      const windows = plain(array)
      api().CFRelease(array)
      return Array.isArray(windows) ? windows : []
    }
    const numbers = (options: number) => list(options).map((window) => window.kCGWindowNumber)
    expect(numbers(1)).toEqual([24, 60, 101, 102, 106, 5])
    expect(numbers(17)).toEqual([24, 60, 101, 102, 106])
    expect(numbers(16)).toEqual([24, 60, 101, 102, 103, 104, 105, 106])
    expect(list(1)[3]).toMatchObject({
      kCGWindowOwnerName: "Mail",
      kCGWindowOwnerPID: 701,
      kCGWindowName: "Inb…",
      kCGWindowLayer: 0,
      kCGWindowIsOnscreen: true,
      kCGWindowBounds: { X: 300, Y: 150, Width: 800, Height: 600 },
    })
  })

  test("have no titles without Screen Recording", () => {
    const mac = start("desktop")
    mac.apply({ do: "grant", what: "screen", to: false })
    expect(api().CGPreflightScreenCaptureAccess()).toBe(false)
    const array = keep(api().CGWindowListCopyWindowInfo(0, 0))
    expect(plain(array)).not.toContainEqual(expect.objectContaining({ kCGWindowName: expect.anything() }))
  })

  test("are missing from AXWindows while they are on another Space", () => {
    start("desktop")
    const windows = items(keep(copy(keep(application(701)), "AXWindows").ref))
    expect(windows.map((window) => read(window, "AXTitle").value)).toEqual(["Inbox", "Drafts"])
  })

  test("move with their contents, keep their minimum size, and can be minimized and restored", () => {
    const mac = start("example-textedit")
    const window = keep(copy(keep(application(2345)), "AXFocusedWindow").ref)
    const pair = (type: number, x: number, y: number) =>
      keep(api().AXValueCreate(type, ptr(Float64Array.of(x, y))))
    expect(write(window, "AXPosition", pair(1, 0, 50))).toBe(0)
    expect(write(window, "AXSize", pair(2, 10, 300))).toBe(0)
    expect(mac.look("window-text").frame).toEqual([0, 50, 240, 300])
    expect(mac.look("bold").frame).toEqual([10, 82, 30, 24])
    expect(write(window, "AXSize", pair(1, 10, 10))).toBe(-25201)
    write(window, "AXMinimized", constant("kCFBooleanTrue"))
    expect(mac.look("window-text").on_screen).toBe(false)
    write(window, "AXMinimized", constant("kCFBooleanFalse"))
    expect(mac.look("window-text").on_screen).toBe(true)
  })

  test("come to the front with their application", () => {
    const mac = start("desktop")
    expect(mac.world().windows[0]).toBe(101)
    expect(write(keep(application(701)), "AXFrontmost", constant("kCFBooleanTrue"))).toBe(0)
    expect(mac.world()).toMatchObject({ front: 701, windows: [102, 103, 104, 101, 105, 106] })
  })

  test("displays are those of the scene", () => {
    start("desktop")
    const [ids, count] = [new Uint32Array(4), new Uint32Array(1)]
    expect(api().CGGetActiveDisplayList(4, ptr(ids), ptr(count))).toBe(0)
    expect([count[0], ids[0], ids[1]]).toEqual([2, 1, 2])
  })
})

describe("events", () => {
  test("a click presses only the element under it", () => {
    const mac = start("example-settings")
    click(160, 310)
    expect(mac.look("scroll-bars").AXValue).toBe(0)
    expect(mac.world().cursor).toEqual([160, 310])
    expect(mac.record("post").map(({ event }) => Reflect.get(Object(event), "name"))).toEqual([
      "left_down",
      "left_up",
    ])
  })

  test("a right click opens the menu of the element under it, and choosing an item closes it", () => {
    const mac = start("finder")
    post(api().CGEventCreateMouseEvent(0n, 3, 400, 215, 1))
    post(api().CGEventCreateMouseEvent(0n, 4, 400, 215, 1))
    expect(mac.look("context-menu")).toMatchObject({ shows: true, open: true })
    expect(mac.look("file-1").AXSelected).toBe(true)
    click(450, 337)
    expect(mac.look("context-menu").shows).toBe(false)
    expect(mac.look("file-1")).toEqual({})
  })

  test("a double click opens", () => {
    const mac = start("finder")
    click(300, 190)
    click(300, 190, 2)
    expect(mac.record("note").map(({ text }) => text)).toEqual(["open Budget.numbers"])
  })

  test("a click does not reach a covered element", () => {
    const mac = start("quirks")
    click(150, 580)
    expect(mac.record("note")).toEqual([])
    mac.apply({ do: "remove", node: "cover" })
    click(150, 580)
    expect(mac.record("note")).toHaveLength(1)
  })

  test("typing goes to the focused field, at most twenty units per event", () => {
    const mac = start("example-textedit")
    key(0, 0n, "Grüße 🙂 and more than twenty")
    expect(mac.look("text").AXValue).toBe("Grüße 🙂 and more th")
    expect(mac.report().notes.map(({ kind }) => kind)).toEqual(["truncated"])
    key(36)
    key(0)
    key(51)
    key(11)
    expect(mac.look("text").AXValue).toBe("Grüße 🙂 and more th\nb")
  })

  test("the layout decides what a key types", () => {
    const mac = start("example-textedit")
    mac.apply({ do: "layout", keyboard: { layout: "de" } })
    for (const code of [16, 6, 33]) key(code)
    mac.apply({ do: "layout", keyboard: { layout: "fr" } })
    key(12)
    expect(mac.look("text").AXValue).toBe("zyüa")
  })

  test("a shortcut finds its menu item", () => {
    const mac = start("example-textedit")
    key(1, COMMAND)
    expect(mac.look("window-text").AXTitle).toBe("Saved")
    expect(mac.record("note")).toHaveLength(1)
    expect(mac.look("text").AXValue).toBe("")
  })

  test("keys sent to a process reach it in the background", () => {
    const mac = start("desktop")
    mac.apply({ do: "front", app: 701 })
    key(0, 0n, "!", 700)
    expect(mac.look("note-text").AXValue).toBe("milk\neggs!")
    expect(mac.world().front).toBe(701)
  })

  test("the wheel scrolls the area under it", () => {
    const mac = start("table")
    const wheel = api().CGEventCreateScrollWheelEvent2(0n, 1, 1, -10, 0, 0)
    api().CGEventSetLocation(wheel, 300, 300)
    post(wheel)
    expect(mac.look("row-0").frame?.[1]).toBeCloseTo(10, 5)
  })

  test("held keys and buttons are in the report until they are released", () => {
    const mac = start("example-textedit")
    post(api().CGEventCreateKeyboardEvent(0n, 55, true))
    post(api().CGEventCreateMouseEvent(0n, 1, 5, 5, 0))
    expect(mac.report().held).toEqual(["key 55", "button 0"])
    post(api().CGEventCreateKeyboardEvent(0n, 55, false))
    post(api().CGEventCreateMouseEvent(0n, 2, 5, 5, 0))
    expect(mac.report().held).toEqual([])
  })

  test("are dropped silently without permission to post", () => {
    const mac = start("example-settings")
    mac.apply({ do: "grant", what: "post", to: false })
    click(160, 310)
    expect(mac.look("scroll-bars").AXValue).toBe(1)
    expect(mac.record("post")[0]?.delivered).toBe(false)
  })
})

describe("Objective-C", () => {
  test("the pasteboard keeps text, and borrowed text only as long as its pool", () => {
    const mac = start("desktop")
    const pool = api().objc_autoreleasePoolPush()
    const board = send(classNamed("NSPasteboard"), "generalPasteboard")
    const type = constant("NSPasteboardTypeString")
    const text = send(board, "stringForType:", type)
    expect(stringValue(text)).toBe("Hello world")
    send(board, "clearContents")
    expect(send(board, "stringForType:", type)).toBe(0n)
    expect(withString("Grüße", (string) => send(board, "setString:forType:", string, type))).toBe(1n)
    expect(mac.world().pasteboard).toEqual({ "public.utf8-plain-text": "Grüße" })
    expect(mac.report().pools).toBe(1)
    api().objc_autoreleasePoolPop(pool)
    expect(mac.report().violations).toEqual([])
    api().CFStringGetLength(text)
    expect(mac.report().violations[0]?.kind).toBe("use_after_free")
    mac.mark()
  })

  test("the workspace notices changes while the run loop runs", () => {
    const mac = start("desktop")
    const pool = api().objc_autoreleasePoolPush()
    const shared = send(classNamed("NSWorkspace"), "sharedWorkspace")
    const pids = () =>
      items(send(shared, "runningApplications")).map((app) => Number(send(app, "processIdentifier")))
    expect(pids()).toEqual([700, 701, 702, 703, 704, 705])
    mac.apply({ do: "quit", app: 703 }, { do: "launch", app: "Windowless" })
    expect(pids()).toEqual([700, 701, 702, 703, 704, 705])
    runLoop(0)
    expect(pids()).toEqual([700, 701, 702, 704, 705, 801])
    const front = send(shared, "frontmostApplication")
    expect(stringValue(send(front, "bundleIdentifier"))).toBe("org.example.windowless")
    expect(send(front, "terminate")).toBe(1n)
    runLoop(0)
    expect(pids()).not.toContain(801)
    api().objc_autoreleasePoolPop(pool)
  })

  test("results arrive in the registers for their type", () => {
    start("desktop")
    const pool = api().objc_autoreleasePoolPush()
    const { symbols } = dlopen(buildFake().library, {
      objc_msgSend: { args: ["u64", "u64"], returns: "f64" },
    })
    const scale = api().sel_registerName(ptr(Buffer.from("backingScaleFactor\0")))
    expect(symbols.objc_msgSend(send(classNamed("NSScreen"), "mainScreen"), scale)).toBe(2)
    const frame = withString("frame", (name) =>
      send(send(classNamed("NSScreen"), "mainScreen"), "valueForKey:", name),
    )
    const numbers = new Float64Array(4)
    send(frame, "getValue:size:", BigInt(ptr(numbers)), 32n)
    expect([...numbers]).toEqual([0, 0, 1440, 900])
    api().objc_autoreleasePoolPop(pool)
  })
})

describe("keyboards and processes", () => {
  test("UCKeyTranslate answers for the layout, and an input method has none", () => {
    const mac = start("example-textedit")
    const translate = (code: number, modifiers: number, options = 1) => {
      const source = api().TISCopyCurrentKeyboardLayoutInputSource()
      const bytes = api().TISGetInputSourceProperty(source, constant("kTISPropertyUnicodeKeyLayoutData"))
      const [dead, length, units] = [new Uint32Array(1), new BigUint64Array(1), new Uint16Array(4)]
      const data = api().CFDataGetBytePtr(bytes)
      api().UCKeyTranslate(data, code, 0, modifiers, 40, options, ptr(dead), 4n, ptr(length), ptr(units))
      api().CFRelease(source)
      return String.fromCharCode(...units.slice(0, Number(length[0])))
    }
    expect([translate(6, 0), translate(6, 2), translate(24, 0), translate(14, 8)]).toEqual([
      "z",
      "Z",
      "=",
      "´",
    ])
    mac.apply({ do: "layout", keyboard: { layout: "de" } })
    expect([translate(6, 0), translate(37, 8), translate(26, 2), translate(24, 0, 0)]).toEqual([
      "y",
      "@",
      "/",
      "",
    ])
    mac.apply({ do: "layout", keyboard: { layout: "fr", method: "com.apple.inputmethod.Kotoeri" } })
    expect([translate(0, 0), translate(18, 0), translate(18, 2)]).toEqual(["q", "&", "1"])
    const method = keep(api().TISCopyCurrentKeyboardInputSource())
    expect(api().TISGetInputSourceProperty(method, constant("kTISPropertyUnicodeKeyLayoutData"))).toBe(0n)
  })

  test("libproc reports path and start time of a process", () => {
    start("example-finder")
    const buffer = Buffer.alloc(1024)
    const length = api().proc_pidpath(1234, ptr(buffer), 1024)
    expect(buffer.toString("utf8", 0, length)).toBe(
      "/System/Library/CoreServices/Finder.app/Contents/MacOS/Finder",
    )
    expect(api().proc_pidinfo(1234, 3, 0n, ptr(buffer), 136)).toBe(136)
    expect([buffer.readUInt32LE(12), buffer.readBigUInt64LE(120), buffer.readBigUInt64LE(128)]).toEqual([
      1234,
      1_700_000_000n,
      250_000n,
    ])
    expect(api().proc_pidinfo(99, 3, 0n, ptr(buffer), 136)).toBe(0)
  })
})
