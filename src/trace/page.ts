import { escapeHidden } from "../shown-text.ts"
import { stringAt, type TraceEntry } from "./entry.ts"

/**
 * A trace as one self-contained web page: no script runs in it, nothing is fetched, and names of windows and
 * buttons are escaped.
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

/** Escapes markup, and shows control characters and everything that hides or reorders text by their codes. */
function safe(text: string): string {
  const markup = text
    .replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/[\x00-\x08\x0b-\x1f\ufffe\uffff]/g, (char) =>
      odd(`\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`),
    )
  return escapeHidden(markup, odd).replace(/\p{Surrogate}/gu, "\ufffd")
}

const odd = (code: string): string => `<i class="odd">${code}</i>`

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

/** The timeline: one bar per entry, which links to it. */
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

/** The pictures of an entry with their captions; two equal ones are one. */
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

/** The rule that holds a picture: it is in the page once, as a background. */
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

/** Width and height from the header of a PNG. */
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

/** The style sheet, for light and dark. */
export const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--soft:#5b6675;--line:#dde2e9;--paper:#f6f7f9;--card:#fff;
--ok:#1f8a5b;--bad:#c4314b;--badly:#fdf1f3;--chip:#eef1f5;--accent:#3355c8}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#98a3b3;--line:#2c333d;--paper:#14181d;
--card:#1b2027;--ok:#4cc38a;--bad:#ff7d92;--badly:#2b1d22;--chip:#252c35;--accent:#8fa8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
header,main{max-width:1080px;margin:0 auto;padding:0 24px}
header{padding-top:32px}
h1{font-size:22px;margin:0 0 8px;letter-spacing:-.01em}
code,pre,.chip,.said,.took,time,aside small{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.facts{list-style:none;display:flex;flex-wrap:wrap;gap:4px 24px;margin:0;padding:0;color:var(--soft)}
.facts b{color:var(--ink);font-size:17px;font-variant-numeric:tabular-nums}
.when{margin:2px 0 0;color:var(--soft);font-size:13px}
.strip{position:relative;height:30px;margin:16px 0 24px;border-radius:6px;background:var(--chip);overflow:hidden}
.strip a{position:absolute;top:6px;bottom:6px;border-radius:2px;opacity:.85}
.strip a:hover{opacity:1;top:2px;bottom:2px}
.strip .ok{background:var(--ok)}.strip .bad{background:var(--bad)}
main{padding-bottom:64px}
article{display:grid;grid-template-columns:116px minmax(0,1fr);gap:0 20px;scroll-margin-top:12px}
aside{text-align:right;padding-top:13px;color:var(--soft);font-size:12px;line-height:1.35}
aside small{display:block;font-size:11px;opacity:.8}
section{position:relative;margin:0 0 10px;padding:10px 16px 8px;background:var(--card);border:1px solid var(--line);border-radius:8px}
section::before{content:"";position:absolute;left:-15px;top:19px;width:9px;height:9px;border-radius:50%;background:var(--ok)}
.bad section::before{background:var(--bad)}
section::after{content:"";position:absolute;left:-11px;top:32px;bottom:-24px;width:1px;background:var(--line)}
article:last-child section::after{display:none}
article.item section{margin-left:28px}
article.item section::before{left:-43px}article.item section::after{left:-39px}
article:target section{border-color:var(--accent);box-shadow:0 0 0 2px color-mix(in srgb,var(--accent) 25%,transparent)}
.bad section{background:var(--badly)}
h2{display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px;margin:0;font-size:15px;font-weight:400}
h2 code{font-weight:700}
.chip{background:var(--chip);border-radius:5px;padding:1px 7px;font-size:12.5px;overflow-wrap:anywhere}
.chip i{font-style:normal;color:var(--soft)}
.took{margin-left:auto;color:var(--soft);font-size:12.5px;font-variant-numeric:tabular-nums;white-space:nowrap}
.said{margin:4px 0 2px;font-size:12.5px;color:var(--soft);overflow-wrap:anywhere}
.said span+span::before{content:"·";margin:0 7px}
.error{margin:5px 0 3px;overflow-wrap:anywhere}
.error b{color:var(--bad);font-size:13px;margin-right:6px}
.error small{display:block;color:var(--soft)}
.shots{display:flex;flex-wrap:wrap;gap:14px;margin:8px 0 6px}
figure{margin:0;width:min(340px,100%)}
figcaption{font-size:12px;color:var(--soft)}
.shot,.large{background-size:100% 100%;background-repeat:no-repeat;border:1px solid var(--line);border-radius:6px;padding:0}
.shot{display:block;width:100%;cursor:zoom-in}
.large{width:min(96vw,var(--w));max-height:94vh;margin:auto}
.large::backdrop{background:rgb(0 0 0/.65)}
details{font-size:13px;color:var(--soft);display:inline-block;margin-right:16px;max-width:100%;vertical-align:top}
details[open]{display:block;margin-right:0}
summary{cursor:pointer}
pre{margin:6px 0;padding:10px 12px;max-height:420px;overflow:auto;background:var(--paper);border:1px solid var(--line);border-radius:6px;color:var(--ink);font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere}
.odd{font-style:normal;color:var(--bad)}
@media (max-width:640px){article{grid-template-columns:minmax(0,1fr)}aside{text-align:left;padding:0 0 2px 2px}
aside small{display:inline;margin-left:8px}section::before,section::after{display:none}article.item section{margin-left:14px}}
@media print{details{display:none}}
`
