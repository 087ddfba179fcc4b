import { by, refused, unverified, verified } from "../e2e/matrix-cell.ts"
import { answers, clicks, drags, type MacCell, WORKSHOP } from "./mac-cell.ts"

/** Other forms of the same commands, and commands that fail. */
export const VARIANTS: readonly MacCell[] = [
  {
    command: "snapshot",
    args: ["--app", "org.example.workshop", "--skeleton"],
    want: answers({ app: "Workshop" }),
  },
  { command: "snapshot", args: [...WORKSHOP, "--offscreen"], want: answers({ ref_count: 19 }) },
  {
    command: "click",
    on: "Canvas",
    input: "physical",
    want: unverified("pointer", ...clicks("660,240", 1), "note canvas clicked"),
  },
  {
    command: "click",
    on: "Canvas",
    input: "semantic",
    want: unverified("accessibility", "perform canvas AXPress applied"),
  },
  {
    command: "type",
    on: "Notes",
    args: ["Zeile ✓"],
    input: "physical",
    want: verified("keyboard", "post key_down 0", "post key_up 0"),
    after: { notes: { AXValue: "Zeile ✓" } },
  },
  {
    command: "drag",
    on: "Near",
    args: ["--to", "@Canvas", "--duration", "0"],
    want: {
      ...by("pointer", [
        "post mouse_moved 620,382",
        "post left_down 620,382 x1",
        ...drags("630,346.5", "640,311", "650,275.5", "660,240"),
        "post left_up 660,240 x1",
      ]),
      data: { action: "drag", to: { x: 660, y: 240 } },
    },
  },
  {
    command: "mouse-click",
    args: ["--xy", "600,200", "--button", "right", "--count", "1"],
    want: by("pointer", [
      "post mouse_moved 600,200",
      "post right_down 600,200 x1",
      "note canvas right",
      "post right_up 600,200 x1",
    ]),
  },
  {
    command: "screenshot",
    args: ["--window-id", "w-6101", "--annotate"],
    want: answers({ format: "png", width: 1400, height: 1200 }, "run screencapture"),
  },
  { command: "screenshot", args: ["--screen", "1"], want: answers({ format: "png" }, "run screencapture") },
  { command: "screenshot", args: ["--screen", "7"], want: refused("INVALID_ARGS") },
  {
    command: "wait",
    args: ["--text", "no such text", "--gone", ...WORKSHOP],
    want: answers({ found: true }),
  },
  { command: "wait", args: ["--window", "Nowhere", "--timeout", "100"], want: refused("TIMEOUT", "window") },
  { command: "permissions", args: ["--request"], want: answers({ granted: true }) },
  { command: "launch", args: ["No Such App"], want: refused("APP_NOT_FOUND", undefined, "run open") },
  { command: "launch", args: ["Calculator"], want: answers({ title: "Calculator" }, "run open") },
  {
    command: "close-app",
    args: ["Calculator", "--force"],
    want: answers({ method: "forceTerminate" }, "quit 6200", "gone 6200"),
  },
  { command: "move-window", args: ["w-999", "1", "1"], want: refused("WINDOW_NOT_FOUND") },
]

export const NOTIFICATIONS: readonly MacCell[] = [
  {
    command: "list-notifications",
    want: answers({ count: 2, notifications: [{ title: "Anna" }, { title: "Stand-up" }] }),
  },
  // Only a notification that comes later counts.
  {
    command: "wait",
    args: ["--notification", "--timeout", "200"],
    want: refused("TIMEOUT", "notification"),
  },
  {
    command: "notification-action",
    args: ["0", "Reply"],
    want: answers({}, "note reply Anna", "perform banner-0 Reply applied"),
  },
  {
    command: "dismiss-notification",
    args: ["0"],
    want: answers({}, "perform banner-0 Close applied"),
    after: { "banner-0": undefined },
  },
  {
    command: "dismiss-all-notifications",
    want: answers({}, "perform banner-1 Schließen applied"),
    after: { "banner-1": undefined },
  },
]
