/** A program that knows only Apple's paths. Bun runs it with the preload; compiled, it runs with dlredirect. */
import { dlopen, ptr } from "bun:ffi"

const FRAMEWORKS = "/System/Library/Frameworks"
const { symbols: cf } = dlopen(`${FRAMEWORKS}/CoreFoundation.framework/CoreFoundation`, {
  CFStringCreateWithCString: { args: ["ptr", "ptr", "u32"], returns: "u64" },
  CFStringGetLength: { args: ["u64"], returns: "i64" },
  CFRelease: { args: ["u64"], returns: "void" },
})
const { symbols: ax } = dlopen(`${FRAMEWORKS}/ApplicationServices.framework/ApplicationServices`, {
  AXUIElementCreateApplication: { args: ["i32"], returns: "u64" },
  AXUIElementSetAttributeValue: { args: ["u64", "u64", "u64"], returns: "i32" },
  AXUIElementCopyAttributeValue: { args: ["u64", "u64", "ptr"], returns: "i32" },
})
const { symbols: objc } = dlopen("/usr/lib/libobjc.A.dylib", {
  objc_getClass: { args: ["ptr"], returns: "u64" },
  sel_registerName: { args: ["ptr"], returns: "u64" },
  objc_msgSend: { args: ["u64", "u64"], returns: "u64" },
})

const string = (text: string) => cf.CFStringCreateWithCString(null, chars(text), 0x08000100)
const chars = (text: string) => ptr(Buffer.from(`${text}\0`))

const [what = "length", ...rest] = process.argv.slice(2)
if (what === "length") print(Number(cf.CFStringGetLength(string("Grüße 🙂"))))
if (what === "leak") string("never released")
if (what === "type") type(Number(rest[0]), rest[1] ?? "")
if (what === "classes") {
  const before = objc.objc_getClass(chars("NSPasteboard"))
  dlopen(`${FRAMEWORKS}/AppKit.framework/AppKit`, { NSApplicationLoad: { args: [], returns: "u8" } })
  print([before === 0n, objc.objc_getClass(chars("NSPasteboard")) !== 0n])
}
if (what === "exception")
  objc.objc_msgSend(objc.objc_getClass(chars("NSString")), objc.sel_registerName(chars("dance")))
if (what === "capture") print((await Bun.spawn(["/usr/sbin/screencapture", ...rest]).exited) === 0)
if (what === "open") print((await Bun.spawn(["open", ...rest], { stderr: "ignore" }).exited) === 0)
if (what === "kill") print(process.kill(Number(rest[0]), "SIGTERM"))

/** Writes AXSelectedText of the focused element. */
function type(pid: number, text: string): void {
  const app = ax.AXUIElementCreateApplication(pid)
  const name = string("AXFocusedUIElement")
  const out = new BigUint64Array(1)
  ax.AXUIElementCopyAttributeValue(app, name, ptr(out))
  const attribute = string("AXSelectedText")
  const value = string(text)
  print(ax.AXUIElementSetAttributeValue(out[0] ?? 0n, attribute, value))
  for (const owned of [app, name, attribute, value, out[0] ?? 0n]) cf.CFRelease(owned)
}

function print(value: unknown): void {
  console.log(JSON.stringify(value))
}
