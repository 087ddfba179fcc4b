/** A page that reports its own events, so that the page judges the effects and not the accessibility tree. */
export interface WebPage {
  readonly url: string
  /** How often the page was loaded and its button pressed, and the present text of its field. */
  readonly seen: { loads: number; clicks: number; text: string }
  stop(): void
}

/** Levels between the page and its button. Each has a name, so that the tree keeps it. */
const LEVELS = 30

export function servePage(nonce: string): WebPage {
  const seen = { loads: 0, clicks: 0, text: "" }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      if (request.method === "POST") {
        if (pathname === "/load") seen.loads++
        if (pathname === "/click") seen.clicks++
        if (pathname === "/text") seen.text = await request.text()
        return new Response()
      }
      return new Response(page(nonce), { headers: { "content-type": "text/html; charset=utf-8" } })
    },
  })
  return { url: `http://127.0.0.1:${server.port}/`, seen, stop: () => void server.stop(true) }
}

function page(nonce: string): string {
  const opening = Array.from(
    { length: LEVELS },
    (_, level) => `<div role="group" aria-label="Level ${level}">`,
  )
  return `<!doctype html><meta charset="utf-8"><title>${nonce}</title>
<script>
  const tell = (what, body = "") => fetch("/" + what, { method: "POST", body })
  addEventListener("load", () => tell("load"))
</script>
<input aria-label="Field ${nonce}" oninput="tell('text', this.value)" autocomplete="off" spellcheck="false">
${opening.join("")}<button onclick="tell('click')">Button ${nonce}</button>${"</div>".repeat(LEVELS)}`
}
