import { JSCallback, ptr } from "bun:ffi"
import { afterEach, describe, expect, test } from "bun:test"
import {
  mac as api,
  application,
  constant,
  copy,
  find,
  makeArray,
  makeString,
  perform,
  plain,
  read,
  stringValue,
  withString,
  write,
} from "./client.ts"
import { finish, keep, release, runLoop, start } from "./stage.ts"

afterEach(finish)

describe("elements", () => {
  test("are a new object at every read, and equal", () => {
    start("example-finder")
    const app = keep(application(1234))
    const [one, two] = [keep(find(app, "Back")), keep(find(app, "Back"))]
    expect(one).not.toBe(two)
    expect(api().CFEqual(one, two)).toBe(1)
    expect(api().CFHash(one)).toBe(api().CFHash(two))
    expect(api().CFEqual(one, keep(find(app, "Search")))).toBe(0)
  })

  test("answer a batch in order, with errors as placeholders", () => {
    const mac = start("example-finder")
    const back = keep(find(keep(application(1234)), "Back"))
    mac.mark()
    const names = ["AXTitle", "AXNothing", "AXEnabled", "AXFrame", "AXChildren"].map((name) =>
      keep(makeString(name)),
    )
    const list = keep(makeArray(names))
    const out = new BigUint64Array(1)
    expect(api().AXUIElementCopyMultipleAttributeValues(back, list, 0, ptr(out))).toBe(0)
    expect(plain(keep(out[0]))).toEqual(["Back", { error: -25205 }, true, [180, 110, 30, 24], []])
    expect(api().AXUIElementCopyMultipleAttributeValues(back, list, 1, ptr(out))).toBe(-25205)
    expect(mac.report().round_trips).toBe(2)
    expect(mac.report().attributes).toMatchObject({ AXTitle: 2, AXNothing: 2, AXFrame: 1 })
  })

  test("know their process and their window", () => {
    start("example-settings")
    const box = keep(find(keep(application(3456)), "Show scroll bars"))
    const pid = new Int32Array(1)
    const window = new Uint32Array(1)
    expect(api().AXUIElementGetPid(box, ptr(pid))).toBe(0)
    expect(api()._AXUIElementGetWindow(box, ptr(window))).toBe(0)
    expect([pid[0], window[0]]).toEqual([3456, 8892])
    expect(read(box, "AXFrame").value).toEqual([150, 300, 200, 20])
  })

  test("do what their role does if they are pressed or written", () => {
    const mac = start("example-settings")
    const app = keep(application(3456))
    expect(perform(keep(find(app, "Show scroll bars")), "AXPress")).toBe(0)
    expect(mac.look("scroll-bars").AXValue).toBe(0)
    expect(perform(keep(find(app, "Dark")), "AXPress")).toBe(0)
    expect([mac.look("light").AXValue, mac.look("dark").AXValue]).toEqual([0, 1])
    expect(perform(keep(find(app, "Brightness")), "AXIncrement")).toBe(0)
    expect(mac.look("brightness").AXValue).toBe(50)
    const name = keep(find(app, "Computer name"))
    expect(write(name, "AXValue", keep(makeString("Grüße 🙂")))).toBe(0)
    expect(mac.look("name").AXValue).toBe("Grüße 🙂")
    expect(read(name, "AXSelectedTextRange").value).toEqual({ range: [8, 0] })
    expect(write(name, "AXValue", constant("kCFBooleanTrue"))).toBe(-25201)
    expect(write(name, "AXTitle", keep(makeString("no")))).toBe(-25205)
    expect(mac.record("write").map(({ result, effect }) => [result, effect])).toEqual([
      [0, "applied"],
      [-25201, "none"],
      [-25205, "none"],
    ])
  })

  test("do nothing while disabled, and report success", () => {
    const mac = start("example-settings")
    expect(perform(keep(find(keep(application(3456)), "Restore Defaults")), "AXPress")).toBe(0)
    expect(mac.record("perform")[0]).toMatchObject({ node: "locked", result: 0, effect: "disabled" })
  })

  test("open menus as children, and close them when an item is picked", () => {
    const mac = start("example-settings")
    const popup = keep(find(keep(application(3456)), "Accent color"))
    expect(read(popup, "AXChildren").value).toEqual([])
    perform(popup, "AXPress")
    const purple = keep(find(popup, "Purple"))
    expect(perform(purple, "AXPress")).toBe(0)
    expect(read(popup, "AXValue").value).toBe("Purple")
    expect(mac.look("accent-menu").open).toBe(false)
  })

  test("become invalid when their window closes", () => {
    const mac = start("example-textedit")
    const app = keep(application(2345))
    const text = keep(find(app, "Bold"))
    perform(keep(find(app, "Close")), "AXPress")
    expect(mac.look("sheet-save").shows).toBe(true)
    perform(keep(find(app, "Delete")), "AXPress")
    expect(read(text, "AXRole")).toEqual({ error: -25202 })
    expect(read(app, "AXWindows").value).toEqual([])
  })

  test("become invalid when another scene starts", () => {
    start("example-settings")
    const box = keep(find(keep(application(3456)), "Show scroll bars"))
    start("example-settings")
    expect(read(box, "AXRole")).toEqual({ error: -25202 })
  })

  test("are found by position, the frontmost first", () => {
    start("quirks")
    const system = keep(api().AXUIElementCreateSystemWide())
    const at = (x: number, y: number) => {
      const out = new BigUint64Array(1)
      const error = api().AXUIElementCopyElementAtPosition(system, x, y, ptr(out))
      return error ? error : read(keep(out[0]), "AXTitle").value
    }
    expect(at(250, 545)).toBe("Same")
    expect(at(150, 580)).toBe("Cover")
    expect(at(1300, 850)).toBe(-25212)
  })
})

describe("faults on demand", () => {
  test("hit the k-th round trip, the k-th call of a function, or the k-th read of an attribute", () => {
    const mac = start("example-finder")
    const app = keep(application(1234))
    const errors = (spec: string) => {
      mac.fail(spec)
      return [1, 2, 3].map(() => read(app, "AXTitle").error)
    }
    expect(errors("2:-25204")).toEqual([0, -25204, 0])
    expect(errors("AXUIElementCopyAttributeValue/3:-25200")).toEqual([0, 0, -25200])
    expect(errors("AXTitle/1:-25202,AXRole/2:-25200")).toEqual([-25202, 0, 0])
    mac.fail()
  })

  test("can make an element die", () => {
    const mac = start("example-finder")
    const back = keep(find(keep(application(1234)), "Back"))
    mac.fail("AXTitle/2:dead")
    expect([1, 2, 3].map(() => read(back, "AXTitle").error)).toEqual([0, -25202, -25202])
    mac.fail()
  })
})

describe("observers", () => {
  test("are called while the run loop runs, for their application", () => {
    const mac = start("example-settings")
    const app = keep(application(3456))
    const heard: string[] = []
    const callback = new JSCallback(
      (_observer: bigint, element: bigint, name: bigint) => {
        heard.push(`${stringValue(name)} ${read(element, "AXTitle").value}`)
      },
      { args: ["u64", "u64", "u64", "u64"], returns: "void" },
    )
    const out = new BigUint64Array(1)
    expect(api().AXObserverCreate(3456, callback.ptr, ptr(out))).toBe(0)
    const observer = keep(out[0])
    const add = () =>
      withString("AXValueChanged", (name) => api().AXObserverAddNotification(observer, app, name, 0n))
    expect([add(), add()]).toEqual([0, -25209])
    const source = api().AXObserverGetRunLoopSource(observer)
    const [loop, mode] = [api().CFRunLoopGetCurrent(), constant("kCFRunLoopDefaultMode")]
    api().CFRunLoopAddSource(loop, source, mode)
    perform(keep(find(app, "Show scroll bars")), "AXPress")
    mac.apply({ do: "set", node: "name", attribute: "AXValue", value: "changed from outside" })
    expect(heard).toEqual([])
    expect(runLoop(0)).toBe(4)
    expect(heard).toEqual(["AXValueChanged Show scroll bars", "AXValueChanged Computer name"])
    expect(runLoop(0)).toBe(3)
    api().CFRunLoopRemoveSource(loop, source, mode)
    expect(runLoop(0)).toBe(1)
    release()
    callback.close()
  })
})

describe("scrolling", () => {
  test("moves the contents, and elements that are scrolled away cannot be hit", () => {
    const mac = start("scroll")
    const app = keep(application(7100))
    expect(mac.look("item-20").frame?.[1]).toBe(740)
    expect(perform(keep(find(app, "Item 21")), "AXScrollToVisible")).toBe(0)
    expect(mac.look("item-20").frame).toEqual([120, 406, 200, 24])
    expect(perform(keep(find(app, "Item 22")), "AXConfirm")).toBe(-25206)
    const out = new BigUint64Array(1)
    expect(api().AXUIElementCopyElementAtPosition(app, 125, 415, ptr(out))).toBe(0)
    expect(read(keep(out[0]), "AXTitle").value).toBe("Item 21")
    const area = keep(parentOf(keep(parentOf(keep(out[0] && api().CFRetain(out[0]))))))
    const end = keep(api().CFNumberCreate(null, 13n, ptr(Float64Array.of(1))))
    expect(write(keep(copy(area, "AXVerticalScrollBar").ref), "AXValue", end)).toBe(0)
    expect(mac.look("item-39").frame?.[1]).toBe(390)
  })

  test("by pages stops at both ends", () => {
    const mac = start("scroll")
    const area = keep(parentOf(keep(parentOf(keep(find(keep(application(7100)), "Item 1"))))))
    for (let i = 0; i < 6; i++) expect(perform(area, "AXScrollDownByPage")).toBe(0)
    expect(mac.look("bar").AXValue).toBe(1)
    for (let i = 0; i < 6; i++) perform(area, "AXScrollUpByPage")
    expect(mac.look("bar").AXValue).toBe(0)
  })
})

describe("effects", () => {
  test("happen after a time, after a number of calls, or by themselves", () => {
    const mac = start(
      {
        apps: [
          {
            pid: 7,
            name: "Boxes",
            windows: [
              {
                window: 1,
                children: [
                  {
                    id: "a",
                    AXRole: "AXCheckBox",
                    AXTitle: "A",
                    actions: { AXPress: [{ do: "toggle", after_ms: 500 }] },
                  },
                  {
                    id: "b",
                    AXRole: "AXCheckBox",
                    AXTitle: "B",
                    actions: { AXPress: [{ do: "toggle", after_calls: 2 }] },
                  },
                  { id: "c", AXRole: "AXCheckBox", AXTitle: "C" },
                ],
              },
            ],
          },
        ],
        meanwhile: [{ do: "toggle", node: "c", after_ms: 200 }],
      },
      { virtualClock: true },
    )
    const values = () => ["a", "b", "c"].map((id) => mac.look(id).AXValue)
    const app = keep(application(7))
    const [a, b] = [keep(find(app, "A")), keep(find(app, "B"))]
    perform(a, "AXPress")
    perform(b, "AXPress")
    expect(values()).toEqual([0, 0, 0])
    mac.sleep(300)
    expect(values()).toEqual([0, 0, 1])
    read(app, "AXRole")
    expect(values()).toEqual([0, 0, 1])
    read(app, "AXRole")
    expect(values()).toEqual([0, 1, 1])
    mac.sleep(300)
    expect(values()).toEqual([1, 1, 1])
  })
})

function parentOf(element: bigint): bigint {
  return copy(element, "AXParent").ref
}
