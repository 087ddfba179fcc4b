import type { ErrorCode } from "../errors.ts"

export interface Guide {
  /** When the code is returned. */
  readonly cause: string
  /** The next steps, in order. */
  readonly recovery: string
}

/** Every error code with its cause and its fix. The errors skill and docs/errors.md are generated from it. */
export const ERROR_GUIDE: Readonly<Record<ErrorCode, Guide>> = {
  PERM_DENIED: {
    cause: "The system has not granted accessibility, or screen recording for a screenshot.",
    recovery:
      "Run `permissions` to see which is missing. `permissions --request` makes the system ask the user, who must grant it and may have to restart the program that runs agent-desktop. No other command can get around it.",
  },
  APP_NOT_FOUND: {
    cause: "No running app has that name, or it has no window.",
    recovery: "Run `list-apps` and use a whole name or an id from it. If it does not run, `launch` it.",
  },
  WINDOW_NOT_FOUND: {
    cause: "No open window has that id or title, or it has closed.",
    recovery: "Run `list-windows`. Window ids are never reused.",
  },
  ELEMENT_NOT_FOUND: {
    cause:
      "No element matches the description, no such surface is open, or no option or desktop has that name.",
    recovery:
      "Choose from `details.candidates`, the closest names, or run `snapshot` or `list-surfaces` to see what exists. Search with `find --text PART`, which also searches elements scrolled out of view; `--include-hidden` adds closed menus and hidden pages.",
  },
  STALE_REF: {
    cause:
      "The ref is not in the map, its element is gone, or the element there now is not provably the same: `details.evidence` says what changed.",
    recovery: "Run `snapshot` and use its refs. Nothing was touched, so a retry is safe.",
  },
  AMBIGUOUS_TARGET: {
    cause: "Several apps, windows or elements match, and nothing distinguishes them.",
    recovery:
      "`details.candidates` lists them: name one exactly, by `--window-id`, by its ref, or by an app's id.",
  },
  SNAPSHOT_NOT_FOUND: {
    cause: "The snapshot id is unknown in this session, or so old that it was dropped.",
    recovery: "Run `snapshot` and use the `snapshot_id` that it prints; check `--session`.",
  },
  ACTION_FAILED: {
    cause:
      "The app or the system refused, or the state afterwards contradicts the request. `details.kind` says which; `platform_detail` has the system's own words.",
    recovery:
      "Run `snapshot`: a dialog may cover the window, the element may be disabled or on a page that is not shown (`details.reason`). Read `disposition` before you try again: if `retry` is `unsafe`, the action may have happened.",
  },
  ACTION_NOT_SUPPORTED: {
    cause: "The element does not offer that action.",
    recovery:
      "Run `get REF actions`. Often the control is the parent or a child: look with `snapshot --root REF`. Without `--input semantic`, pointer and keyboard are tried too.",
  },
  APP_UNRESPONSIVE: {
    cause: "The app did not answer in time. It is busy, stopped, or shows a blocking dialog.",
    recovery:
      "Wait (`wait 2000`, `wait --text 'Ready'`), then look again. `list-windows` and `screenshot` still work. If it stays silent, ask the user before `close-app APP --force`.",
  },
  TIMEOUT: {
    cause: "A wait or the command's own time ran out. `details.kind` says what the command waited for.",
    recovery:
      "Run `snapshot` to see the current state. If the app only needs more time, pass a larger `--timeout-ms`. Read `disposition` before you repeat an action.",
  },
  PLATFORM_NOT_SUPPORTED: {
    cause:
      "Not available on this system or in this session: no display, no accessibility bus, an app without a tree.",
    recovery:
      "Run `doctor`: it says what to install or to switch on. On Linux, `desktop-start` gives you a complete desktop.",
  },
  NOTIFICATION_NOT_FOUND: {
    cause: "The notification is gone, or no notification of the last list has that index.",
    recovery: "Run `list-notifications` and use an index from it: an index always refers to the last list.",
  },
  POLICY_DENIED: {
    cause:
      "The operator forbids it: only reading is allowed, the app is not on the list, the keys would end the session, or a person has paused the agents.",
    recovery:
      "Do not look for a way around. Ask the user, who can change the setting that the message names, or end the pause.",
  },
  INVALID_ARGS: {
    cause: "The arguments do not parse or contradict each other. Exit code 2. Nothing was done.",
    recovery: "The message names the argument. Run `help COMMAND`, or `schema COMMAND` for its JSON Schema.",
  },
  INTERNAL: {
    cause: "An unexpected failure: a defect, a full disk, a snapshot that is too big to keep.",
    recovery:
      "Follow the suggestion; otherwise run the command again with `--verbose`. For a snapshot that is too big use `-i`, `--root REF` or a smaller `--max-depth`.",
  },
}

/** All codes as Markdown sections. */
export function errorSections(): string {
  return Object.entries(ERROR_GUIDE)
    .map(([code, { cause, recovery }]) => `## ${code}\n\n${cause}\n\n**What to do:** ${recovery}\n`)
    .join("\n")
}
