"use strict"
const at = (id) => document.getElementById(id)
const [canvas, frame, mark, label, list, picker] = ["picture", "frame", "mark", "label", "lines", "windows"].map(at)
const pen = canvas.getContext("2d")
const root = document.documentElement
const windows = new Map()
let order = []
let focused
/** The window that the person chose; empty: the focused one. */
let chosen = ""
/** The window under the pointer, if its elements are highlighted. */
let pointed
let shownLines
let selected = -1
let scale = 1
let isPaused = false
let hasEnded = false

const make = (tag, text, name) => {
  const element = document.createElement(tag)
  if (text !== undefined) element.textContent = text
  if (name) element.className = name
  return element
}

/* The connection */

const socket = new WebSocket(`${location.href.replace(/^http/, "ws").replace(/[?#].*$/, "")}live`)
socket.binaryType = "arraybuffer"
let drawing = Promise.resolve()
socket.onmessage = ({ data }) => {
  if (typeof data !== "string") drawing = drawing.then(() => draw(data)).catch(() => {})
  else heard(JSON.parse(data))
}
socket.onopen = () => root.classList.add("on")
socket.onclose = () => {
  hasEnded = true
  // The pause ends with the view, and the ends of commands are no longer reported.
  isPaused = false
  for (const row of rows.values()) if (row.matches(".held, .running")) leave(row)
  root.classList.remove("on")
  at("pause").disabled = true
  showState()
}

const heard = (message) => {
  if (message.kind === "hello") {
    const { desktop } = message
    at("name").textContent = desktop === undefined ? "Your own desktop" : desktop
    document.title = `${desktop === undefined ? "Your desktop" : desktop} – agent-desktop`
    at("about").textContent =
      desktop === undefined
        ? "This page shows everything on your screen. Secure fields are covered."
        : "An isolated desktop, live. Secure fields are covered."
    resize(message)
    for (const entry of message.commands) showCommand(entry)
    countCommands()
  } else if (message.kind === "window") {
    windows.set(message.id, message)
    showPicker()
    if (message.id === current()) showLines()
  } else if (message.kind === "windows") {
    order = message.ids
    focused = message.focused
    resize(message)
    for (const id of windows.keys()) if (!order.includes(id)) windows.delete(id)
    showPicker()
    showLines()
  } else if (message.kind === "command") {
    showCommand(message)
    countCommands()
  } else if (message.kind === "pause") {
    isPaused = message.paused
    showState(message)
  }
}

/* The picture */

const resize = ({ width, height }) => {
  if (canvas.width === width && canvas.height === height) return
  canvas.width = width
  canvas.height = height
  fit()
}

const fit = () => {
  const stage = at("stage")
  const main = stage.parentElement
  const room = innerWidth > 900 ? main.clientHeight - 216 : innerHeight * 0.6
  scale = Math.min(1, stage.clientWidth / canvas.width, Math.max(160, room) / canvas.height)
  canvas.style.width = `${Math.floor(canvas.width * scale)}px`
  canvas.style.height = `${Math.floor(canvas.height * scale)}px`
  showMark()
}
addEventListener("resize", fit)

const draw = async (data) => {
  const view = new DataView(data)
  const picture = await createImageBitmap(new Blob([new Uint8Array(data, 8)], { type: "image/png" }))
  pen.drawImage(picture, view.getUint16(0), view.getUint16(2))
  picture.close()
  canvas.dataset.drawn = String(Number(canvas.dataset.drawn ?? 0) + 1)
  socket.send("drawn")
}

const contains = (box, x, y) =>
  box && x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height

/** The smallest element at a point of the topmost window there. */
const elementAt = (x, y) => {
  const id = order.find((one) => contains(windows.get(one)?.bounds, x, y))
  const { lines = [] } = windows.get(id) ?? {}
  let best = -1
  const size = ({ bounds }) => bounds.width * bounds.height
  lines.forEach((line, index) => {
    if (!contains(line.bounds, x, y) || line.bounds.width < 1) return
    if (best < 0 || size(line) <= size(lines[best])) best = index
  })
  return { id, index: best }
}

canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  const { id, index } = elementAt(offsetX / scale, offsetY / scale)
  if (id !== pointed) {
    pointed = id
    showPicker()
    showLines()
  }
  select(index, true)
})
canvas.addEventListener("pointerleave", () => {
  pointed = undefined
  showPicker()
  showLines()
  select(-1)
})

const showMark = () => {
  const line = windows.get(current())?.lines[selected]
  const box = line?.bounds
  mark.hidden = !box || box.width < 1 || box.height < 1
  if (mark.hidden) return
  const left = Math.max(0, box.x * scale)
  const top = Math.max(0, box.y * scale)
  const right = Math.min(canvas.width * scale, (box.x + box.width) * scale)
  const bottom = Math.min(canvas.height * scale, (box.y + box.height) * scale)
  mark.style.left = `${left}px`
  mark.style.top = `${top}px`
  mark.style.width = `${Math.max(4, right - left)}px`
  mark.style.height = `${Math.max(4, bottom - top)}px`
  mark.classList.toggle("low", top < 28)
  mark.classList.toggle("left", left > canvas.width * scale * 0.6)
  label.textContent = line.text
}

/* The outline */

const current = () => {
  if (pointed !== undefined && windows.has(pointed)) return pointed
  if (windows.has(chosen)) return chosen
  return windows.has(focused) ? focused : order.find((id) => windows.has(id))
}

const titleOf = (id) => {
  const { title, app } = windows.get(id) ?? {}
  return title || app || id
}

const showPicker = () => {
  const shown = pointed ?? chosen
  const first = make("option", focused ? `Focused: ${titleOf(focused)}` : "Focused window")
  first.value = ""
  const others = order
    .filter((id) => windows.has(id))
    .map((id) => {
      const option = make("option", titleOf(id))
      option.value = id
      return option
    })
  picker.replaceChildren(first, ...others)
  picker.value = shown === focused && chosen === "" ? "" : windows.has(shown) ? shown : ""
}
picker.addEventListener("change", () => {
  chosen = picker.value
  showLines()
  select(-1)
})

const PARTS = /^(\S+)( "(?:[^"\\]|\\.)*"\??)?( \[@[^\]]+\])?(.*)$/s

const showLines = () => {
  const shown = windows.get(current())
  if (shown === shownLines) return
  const isSame = shown && shownLines && shown.id === shownLines.id
  shownLines = shown
  const { lines = [], note } = shown ?? {}
  at("note").hidden = note === undefined
  at("note").textContent = note ?? ""
  list.replaceChildren(
    ...lines.map(({ text, depth }, index) => {
      const item = make("li")
      const [, role = "", name = "", ref = "", rest = ""] = PARTS.exec(text) ?? [text, text]
      item.append(make("i", role), name)
      if (ref) item.append(make("b", ref))
      if (rest) item.append(make("i", rest))
      item.style.paddingLeft = `${12 + depth * 14}px`
      item.id = `line-${index}`
      item.title = text
      item.setAttribute("role", "option")
      return item
    }),
  )
  const kept = isSame ? Math.min(selected, lines.length - 1) : -1
  selected = -1
  select(kept)
}

const select = (index, isScrolled = false) => {
  list.children[selected]?.setAttribute("aria-selected", "false")
  selected = index
  const item = list.children[index]
  item?.setAttribute("aria-selected", "true")
  if (item) list.setAttribute("aria-activedescendant", item.id)
  else list.removeAttribute("aria-activedescendant")
  if (item && isScrolled) item.scrollIntoView({ block: "nearest" })
  showMark()
}

list.addEventListener("pointermove", ({ target }) => {
  const item = target.closest("li")
  const index = item ? [...list.children].indexOf(item) : -1
  if (index !== selected) select(index)
})
list.addEventListener("pointerleave", () => document.activeElement !== list && select(-1))
list.addEventListener("blur", () => select(-1))
list.addEventListener("keydown", (event) => {
  const last = list.children.length - 1
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -last, End: last }
  const step = steps[event.key]
  if (step === undefined || last < 0) return
  event.preventDefault()
  select(Math.max(0, Math.min(last, selected < 0 ? 0 : selected + step)), true)
})

/* The commands */

const rows = new Map()
const MOST_ROWS = 500

const countCommands = () => {
  const all = [...rows.values()]
  const failed = all.filter((row) => row.classList.contains("failed")).length
  at("count").textContent = all.length ? `${all.length}${failed ? `, ${failed} failed` : ""}` : ""
}

const STATES = {
  running: "running",
  held: "waits for you",
  done: "ok",
  failed: "failed",
  lost: "its process ended",
}

/** The view has ended before the command. */
const leave = (row) => {
  row.className = "lost"
  row.querySelector(".end b").textContent = "not followed to its end"
}

const wordOf = ([name, value]) =>
  value === true ? name : value === false ? "" : name === "ref_id" ? String(value) : `${name} ${value}`

/** The target of a command, then its arguments. */
const saidOf = ({ arguments: given, state }, { element, window, ref_id }) => {
  const { timeout_ms: _, ...args } = given ?? {}
  const target =
    state !== "done"
      ? ""
      : element
        ? `${element.role}${element.name ? ` "${element.name}"` : ""}${ref_id ? ` ${ref_id}` : ""}`
        : window?.title
          ? `"${window.title}"`
          : ""
  const { ref_id: __, ...others } = args
  const words = Object.entries(element && target ? others : args).map(wordOf)
  return [target, ...words].filter(Boolean).join("  ")
}

const durationOf = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`)

const showCommand = (entry) => {
  const { id, time, command, state, duration_ms, result = {}, door, session, pid } = entry
  const row = make("li", undefined, state)
  const clock = make("time", new Date(time).toLocaleTimeString([], { hour12: false }))
  clock.dateTime = time
  const what = make("div", undefined, "what")
  const said = saidOf(entry, result)
  what.append(make("code", command), make("span", said))
  what.title = `${command} ${said}\n${[door, session && `session ${session}`, `process ${pid}`].filter(Boolean).join(", ")}`
  const end = make("div", undefined, "end")
  const facts = [result.method, result.disposition?.delivery?.replaceAll("_", " ")].filter(Boolean)
  if (facts.length) end.append(`${facts.join(" · ")}  `)
  end.append(make("b", state === "failed" && result.code ? result.code : STATES[state]))
  row.append(clock, what, end, make("div", duration_ms === undefined ? "" : durationOf(duration_ms), "took"))
  if (state === "failed" && result.message) row.append(make("div", result.message, "why"))
  const old = rows.get(id)
  rows.set(id, row)
  if (old) old.replaceWith(row)
  else at("commands").prepend(row)
  at("empty")?.remove()
  if (rows.size > MOST_ROWS) {
    const [oldest] = rows.keys()
    rows.get(oldest).remove()
    rows.delete(oldest)
  }
}

const empty = make("li", "Commands appear here as they happen, from every process that uses this desktop.", "empty")
empty.id = "empty"
at("commands").append(empty)

/* The pause */

const showState = ({ acting = 0, waiting = 0 } = {}) => {
  const button = at("pause")
  root.classList.toggle("paused", isPaused && !hasEnded)
  button.setAttribute("aria-pressed", String(isPaused))
  button.textContent = isPaused ? "Go on" : "Pause agents"
  const held = waiting > 0 ? `, ${waiting} ${waiting === 1 ? "command waits" : "commands wait"}` : ""
  at("state").textContent = hasEnded
    ? "Not connected. Reload the page; if that fails, the view has ended and agents may act"
    : !isPaused
      ? "Agents may act"
      : acting > 0
        ? "Pausing: one action is still being finished"
        : `Paused: nothing is done${held}`
}
at("pause").addEventListener("click", () => socket.send(isPaused ? "go" : "pause"))
showState()
fit()
