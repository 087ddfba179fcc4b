import { expect, test } from "bun:test"
import { answersOf, windowTitled } from "../support/answers.ts"
import { CHROMIUM } from "../support/chromium.ts"
import { openDesktop } from "../support/desktop.ts"
import { until } from "../support/until.ts"

/** Chromium notes whether a click on an option has a handler, and does not notice one that the list gets later. */

const PAGE = `<!doctype html><title>Late</title>
<ul role="listbox" aria-label="Colours" id="list">
  <li role="option" tabindex="-1" aria-selected="false">Red</li>
  <li role="option" tabindex="-1" aria-selected="false">Blue</li>
</ul>
<script>
addEventListener("message", () => {
  list.onclick = ({ target }) => {
    target.setAttribute("aria-selected", true)
    fetch("/log?" + target.textContent)
  }
  fetch("/log?ready")
})
fetch("/go").then(() => postMessage(""))
</script>`

test("an option whose list has got its handler late is clicked with the pointer, and select claims nothing", async () => {
  await using desktop = await openDesktop()
  const log: string[] = []
  const go = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (pathname === "/log") log.push(search.slice(1))
      if (pathname === "/go") await go.promise
      return new Response(PAGE, { headers: { "content-type": "text/html" } })
    },
  })
  server.unref()
  desktop.spawnApp([...CHROMIUM, `--user-data-dir=${desktop.directory}/profile`, `--app=${server.url}`])
  const ok = answersOf(() => desktop)
  const window = await windowTitled(ok, "Late", 30_000)
  await ok("snapshot", "--window-id", window)
  go.resolve()
  await until(() => log.includes("ready"), 10_000)

  const selected = await ok("select", 'listbox "Colours"', "Blue", "--window-id", window)
  expect(selected.disposition.delivery).toBe("delivered_unverified")
  expect(log).toEqual(["ready"])
  expect((await ok("click", 'option "Red"', "--window-id", window)).method).toBe("pointer")
  await until(() => log.includes("Red"), 5000)
  expect(log).toEqual(["ready", "Red"])
})
