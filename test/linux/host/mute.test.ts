import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { mutenessOf } from "../../../src/linux/host/mute.ts"
import { temporaryForFile } from "../../support/temporary.ts"

const root = temporaryForFile()

const ON = "HOME=/x\0ACCESSIBILITY_ENABLED=1\0"

test.each([
  ["7f0 r-xp /usr/lib/x86_64-linux-gnu/libtk8.6.so", "", /built with Tk/],
  ["7f0 r-xp /usr/lib/x86_64-linux-gnu/libgtk-3.so.0", ON, /switched on, but exposes nothing/],
  [
    "7f0 r-xp /usr/lib/x86_64-linux-gnu/libgtk-x11-2.0.so.0",
    ON,
    /GTK 2 app without its accessibility bridge/,
  ],
  ["7f0 r-xp /usr/lib/jvm/java-17/lib/server/libjvm.so", ON, /Java app without its accessibility bridge/],
  // A restart may switch these on.
  ["7f0 r-xp /usr/lib/x86_64-linux-gnu/libgtk-x11-2.0.so.0", "HOME=/x\0", undefined],
  ["", "", undefined],
])("a process with %p and the environment %p", (maps, environ, reason) => {
  mkdirSync(`${root}/7`, { recursive: true })
  writeFileSync(`${root}/7/maps`, maps)
  writeFileSync(`${root}/7/environ`, environ)
  const why = mutenessOf(7, false, root)
  if (reason) expect(why?.reason).toMatch(reason)
  else expect(why).toBeUndefined()
})

test("a process that is gone has no reason", () => expect(mutenessOf(8, false, root)).toBeUndefined())
