import type { Envelope, ErrorObject } from "../envelope.ts"
import { toLine } from "../envelope.ts"
import type { Disposition } from "../errors.ts"
import type { AppInfo, DisplayInfo, Node, NotificationInfo, SurfaceInfo, WindowInfo } from "../node.ts"
import { stringAt, type TraceEntry } from "../trace/entry.ts"
import type { ActionChanges } from "./changes.ts"
import type { Difference } from "./compare.ts"
import { changeLines, lineOf, outline, quoted } from "./outline.ts"
import type { Observation } from "./snapshot.ts"

/** What `--format text` prints: trees, matches and lists line by line, everything else as JSON. */
export function toText(envelope: Envelope): string {
  if (!envelope.ok) return errorText(envelope.error)
  const { data } = envelope
  if ("changes" in data && "action" in data) return acted(data as Acted)
  const render = RENDERERS[envelope.command]
  // Each command's data has the shape that its renderer names.
  return render ? render(data as never) : toLine(envelope)
}

function errorText({ code, message, suggestion }: ErrorObject): string {
  return `error ${code}: ${oneLine(message)}\n${suggestion ? `suggestion: ${oneLine(suggestion)}\n` : ""}`
}

interface Match extends Omit<Node, "children"> {
  readonly path: readonly string[]
}

interface Found {
  readonly count?: number
  readonly match?: Match | null
  readonly matches?: readonly Match[]
  readonly total_matches?: number
  readonly complete?: boolean
}

const RENDERERS: Readonly<Record<string, (data: never) => string>> = {
  snapshot,
  find: found,
  "list-windows": ({ windows }: { windows: readonly WindowInfo[] }) =>
    lines(
      windows,
      (one) =>
        `${one.id} ${quoted(one.title)} ${quoted(one.app_name)} pid ${one.pid}${one.is_focused ? " focused" : ""}`,
    ),
  "list-apps": ({ apps }: { apps: readonly AppInfo[] }) =>
    lines(
      apps,
      (one) => `${quoted(one.name)} pid ${one.pid}${one.bundle_id ? ` ${quoted(one.bundle_id)}` : ""}`,
    ),
  "list-displays": ({ displays }: { displays: readonly DisplayInfo[] }) =>
    lines(
      displays,
      ({ id, bounds: { x, y, width, height }, is_primary, scale }) =>
        `${quoted(id)} at ${x},${y} ${width}x${height} scale ${scale}${is_primary ? " primary" : ""}`,
    ),
  "list-surfaces": ({ surfaces }: { surfaces: readonly SurfaceInfo[] }) =>
    lines(surfaces, (one) =>
      [
        one.type,
        one.id,
        one.title && quoted(one.title),
        one.item_count !== undefined && `${one.item_count} items`,
      ]
        .filter(Boolean)
        .join(" "),
    ),
  "list-notifications": (list: { notifications: readonly NotificationInfo[]; unlisted?: number }) =>
    [
      lines(list.notifications, (one) =>
        [
          one.index,
          quoted(one.app_name),
          quoted(one.title),
          one.body && quoted(one.body),
          one.actions?.map(quoted).join(" "),
        ]
          .filter((word) => word !== undefined && word !== "")
          .join(" "),
      ),
      list.unlisted ? `${list.unlisted} more show, of which the daemon does not tell what they say` : "",
    ]
      .filter(Boolean)
      .join("\n"),
  "trace-show": ({ entries }: { entries: readonly TraceEntry[] }) => lines(entries, traced),
  "mcp-config": ({ text }: { text: string }) => text,
  "list-desktops": ({ desktops }: { desktops: readonly { name: string; display: string; size: string }[] }) =>
    lines(desktops, (one) => `${one.name} ${one.display} ${one.size}`),
}

function snapshot(data: Observation | Difference): string {
  const { app, window, snapshot_id, complete, ref_count } = data
  const since = "since" in data ? ` since ${data.since}` : ""
  const heading = `${quoted(app)} ${window.id} ${quoted(window.title)} ${snapshot_id}${since} ${ref_count} refs${complete ? "" : " incomplete"}\n`
  if ("changes" in data) return heading + changeLines(data.changes)
  return heading + outline(data.tree, window.title)
}

interface Acted {
  readonly action: string
  readonly ref_id?: string
  readonly disposition?: Disposition
  readonly changes: ActionChanges
}

function acted({ action, ref_id, disposition, changes }: Acted): string {
  const words = [action, ref_id, disposition?.delivery, changes.snapshot_id].filter(Boolean)
  return `${words.join(" ")}\n${changeLines(changes)}`
}

function found({ count, match, matches, total_matches, complete }: Found): string {
  const cut = complete === false ? "incomplete\n" : ""
  if (count !== undefined) return `${count} matches\n${cut}`
  if (match !== undefined) return match ? `${matchLine(match)}\n${cut}` : `no match\n${cut}`
  const rest = (total_matches ?? 0) - (matches?.length ?? 0)
  const more = rest > 0 ? `… ${rest} more\n` : ""
  return matches?.length ? `${matches.map(matchLine).join("\n")}\n${more}${cut}` : `no match\n${cut}`
}

function traced({ time, command, arguments: args, ok, error, duration_ms }: TraceEntry): string {
  const given = typeof args === "object" && args !== null ? Object.entries(args) : []
  const words = given.map(([name, value]) => `${name}=${typeof value === "string" ? quoted(value) : value}`)
  const end = ok ? "ok" : `${stringAt(error, "code")} ${oneLine(stringAt(error, "message") ?? "")}`
  return [time, `${duration_ms} ms`, command, ...words, end].join(" ")
}

const matchLine = (match: Match): string =>
  `${lineOf(match)}${match.path.length ? ` in ${match.path.map(quoted).join(" > ")}` : ""}`

const lines = <T>(all: readonly T[], line: (one: T) => string): string =>
  all.length ? `${all.map(line).join("\n")}\n` : "none\n"

const oneLine = (text: string): string => quoted(text).slice(1, -1).replaceAll('\\"', '"')
