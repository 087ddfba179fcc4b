import type { TraceEntry } from "./trace-entry.ts"
import { stringAt } from "./trace-entry.ts"
import { STYLE } from "./trace-style.ts"

/**
 * A trace as one web page that needs nothing else: no script runs in it, nothing is fetched, and what
 * applications call their windows and buttons stays text.
 */
export function tracePage(
  entries: readonly TraceEntry[],
  pictures: ReadonlyMap<string, Uint8Array>,
  unreadable: number,
): string {
  const names = [...pictures.keys()]
  const classOf = new Map(names.map((name, index) => [name, `p${index}`]))
  const images = names.map((name) => imageRule(classOf.get(name)!, pictures.get(name)!)).join("\n")
  const begin = entries[0] ? Date.parse(entries[0].time) : 0
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>agent-desktop trace</title>
<style>${STYLE}${images}</style>
</head>
<body>
<header>
<h1>agent-desktop trace</h1>
${summaryOf(entries, unreadable)}
${stripOf(entries, begin)}
</header>
<main>
${entries.map((entry, index) => articleOf(entry, index, begin, classOf)).join("\n")}
</main>
${names.map((name) => enlarged(classOf.get(name)!, pictures.get(name)!)).join("\n")}
</body>
</html>
`
}

/** As text, and only as text: neither markup, nor what turns the direction of the rest around. */
function safe(text: string): string {
  return text
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(
      /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g,
      (char) => `<i class="odd">\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}</i>`,
    )
    .replace(/\p{Surrogate}/gu, "\ufffd")
}

function summaryOf(entries: readonly TraceEntry[], unreadable: number): string {
  const failed = entries.filter((one) => !one.ok).length
  const busy = entries.filter((one) => one.door !== "batch").reduce((sum, one) => sum + one.duration_ms, 0)
  const facts = [
    [String(entries.length), entries.length === 1 ? "command" : "commands"],
    [String(failed), "failed"],
    [durationOf(busy), "at work"],
    ...(unreadable > 0 ? [[String(unreadable), "lines unreadable"] as const] : []),
  ]
  const first = entries[0]
  const last = entries.at(-1)
  const when =
    first && last ? `<p class="when">${safe(first.time)} – ${safe(clockOf(Date.parse(last.time)))}</p>` : ""
  const items = facts.map(([figure, word]) => `<li><b>${figure}</b> ${word}</li>`)
  return `<ul class="facts">${items.join("")}</ul>${when}`
}

/** All of it at a glance: where time went, and what failed; each bar leads to its entry. */
function stripOf(entries: readonly TraceEntry[], begin: number): string {
  const end = Math.max(...entries.map((one) => Date.parse(one.time) + one.duration_ms), begin + 1)
  const share = (ms: number): string => ((ms / (end - begin)) * 100).toFixed(3)
  const bars = entries.map((one, index) => {
    const place = `left:${share(Date.parse(one.time) - begin)}%;width:max(3px,${share(one.duration_ms)}%)`
    return `<a class="${one.ok ? "ok" : "bad"}" href="#c${index}" style="${place}" title="${safe(one.command)}"></a>`
  })
  return entries.length > 0 ? `<nav class="strip" aria-label="Timeline">${bars.join("")}</nav>` : ""
}

function articleOf(
  entry: TraceEntry,
  index: number,
  begin: number,
  classOf: ReadonlyMap<string, string>,
): string {
  const at = Date.parse(entry.time)
  const shots = picturesOf(entry).flatMap(([name, when]) => {
    const picture = classOf.get(name ?? "")
    return picture === undefined ? [] : [thumbnail(picture, when)]
  })
  return `<article id="c${index}" class="${entry.ok ? "ok" : "bad"}${entry.door === "batch" ? " item" : ""}">
<aside><time datetime="${safe(entry.time)}">${clockOf(at)}</time><small>+${durationOf(at - begin)}</small></aside>
<section>
<h2><code>${safe(entry.command)}</code>${chipsOf(entry.arguments)}<span class="took">${durationOf(entry.duration_ms)}</span></h2>
${outcomeOf(entry)}
${shots.length > 0 ? `<div class="shots">${shots.join("")}</div>` : ""}
${detailsOf(entry)}
</section>
</article>`
}

/** One that shows what the other shows is shown once. */
function picturesOf({ before, after }: TraceEntry): readonly (readonly [string | undefined, string])[] {
  if (before === undefined) return [[after, "afterwards"]]
  if (before === after) return [[after, "before and after: no pixel changed"]]
  return [
    [before, "before"],
    [after, "after"],
  ]
}

function chipsOf(args: unknown): string {
  const given = typeof args === "object" && args !== null ? Object.entries(args) : []
  return given
    .map(([name, value]) => `<span class="chip"><i>${safe(name)}</i> ${safe(String(value))}</span>`)
    .join("")
}

function outcomeOf({ ok, data, error }: TraceEntry): string {
  if (!ok) {
    const suggestion = stringAt(error, "suggestion")
    return `<p class="error"><b>${safe(stringAt(error, "code") ?? "failed")}</b> ${safe(stringAt(error, "message") ?? "")}${
      suggestion === undefined ? "" : `<small>${safe(suggestion)}</small>`
    }</p>`
  }
  const words = [
    stringAt(data, "disposition", "delivery"),
    stringAt(data, "method"),
    stringAt(data, "window", "title") ?? stringAt(data, "title"),
    stringAt(data, "snapshot_id"),
  ].filter((word) => word !== undefined)
  return words.length > 0
    ? `<p class="said">${words.map((word) => `<span>${safe(word)}</span>`).join("")}</p>`
    : ""
}

function detailsOf(entry: TraceEntry): string {
  const result = entry.ok ? entry.data : entry.error
  const tree = stringAt(result, "tree") ?? stringAt(result, "menu")
  const { time, command, arguments: args, before, after, ...rest } = entry
  const members = tree === undefined ? rest : { ...rest, data: { ...Object(result), tree: "as above" } }
  const json = JSON.stringify(members, undefined, 2)
  return `${tree === undefined ? "" : `<details><summary>Tree</summary><pre>${safe(tree)}</pre></details>`}
<details><summary>Everything</summary><pre>${safe(json)}</pre></details>`
}

/** Each picture is in the page once; where it is shown, it is a background. */
function imageRule(name: string, png: Uint8Array): string {
  const { width, height } = sizeOf(png)
  const source = `data:image/png;base64,${png.toBase64()}`
  return `.${name}{background-image:url(${source});aspect-ratio:${width}/${height};--w:${width}px}`
}

const thumbnail = (name: string, when: string): string =>
  `<figure><button popovertarget="${name}" class="shot ${name}" aria-label="Enlarge the screen ${when}"></button><figcaption>${when}</figcaption></figure>`

const enlarged = (name: string, png: Uint8Array): string => {
  const { width, height } = sizeOf(png)
  return `<div id="${name}" popover role="img" aria-label="The screen, ${width} by ${height}" class="large ${name}"></div>`
}

/** From the header, which every PNG begins with. */
function sizeOf(png: Uint8Array): { readonly width: number; readonly height: number } {
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength)
  return png.length < 24
    ? { width: 1, height: 1 }
    : { width: view.getUint32(16) || 1, height: view.getUint32(20) || 1 }
}

const clockOf = (ms: number): string => new Date(ms).toISOString().slice(11, 23)

function durationOf(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
