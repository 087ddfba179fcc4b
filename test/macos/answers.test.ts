import { expect, test } from "bun:test"
import { appWith } from "./adapter-desk.ts"
import { onMac } from "./program.ts"

/**
 * On a Mac, an app's answer to an action does not prove the effect: Contacts answers "attribute not supported" to a
 * press that it obeyed. Here every acting command meets every answer, with and without an effect.
 */

interface Act {
  readonly command: string
  readonly args?: object
  /** The element, and the request that the app gets: an action, or an attribute that is written. */
  readonly node: object
  readonly asked: string
  /** True if the element shows the effect, so that the command can prove it. */
  readonly shows?: boolean
  /** True if the element shows that nothing arrived, so that the keyboard may be used. */
  readonly showsLoss?: boolean
}

const at = { id: "it", frame: [200, 200, 120, 24] }
const item = (AXTitle: string) => ({ AXRole: "AXMenuItem", AXTitle })

const ACTS: Readonly<Record<string, Act>> = {
  click: { command: "click", node: { AXRole: "AXButton", AXTitle: "It" }, asked: "AXPress" },
  "click on a button that changes": {
    command: "click",
    node: {
      AXRole: "AXButton",
      AXTitle: "It",
      on: { AXPress: [{ do: "set", attribute: "AXTitle", value: "Done" }] },
    },
    asked: "AXPress",
  },
  "double-click": {
    command: "double-click",
    node: { AXRole: "AXCell", AXTitle: "It", actions: { AXOpen: [] } },
    asked: "AXOpen",
  },
  "right-click": {
    command: "right-click",
    node: { AXRole: "AXButton", AXTitle: "It", actions: { AXShowMenu: [] } },
    asked: "AXShowMenu",
  },
  toggle: {
    command: "toggle",
    node: { AXRole: "AXCheckBox", AXTitle: "It" },
    asked: "AXPress",
    shows: true,
  },
  check: { command: "check", node: { AXRole: "AXCheckBox", AXTitle: "It" }, asked: "AXPress", shows: true },
  uncheck: {
    command: "uncheck",
    node: { AXRole: "AXCheckBox", AXTitle: "It", AXValue: 1 },
    asked: "AXPress",
    shows: true,
  },
  expand: {
    command: "expand",
    node: {
      AXRole: "AXRow",
      AXSubrole: "AXOutlineRow",
      AXTitle: "It",
      AXDisclosing: false,
      settable: ["AXDisclosing"],
    },
    asked: "AXDisclosing",
    shows: true,
  },
  collapse: {
    command: "collapse",
    node: { AXRole: "AXDisclosureTriangle", AXTitle: "It", AXValue: 1 },
    asked: "AXPress",
    shows: true,
  },
  "select in a pop-up": {
    command: "select",
    args: { value: "Blue" },
    node: {
      AXRole: "AXPopUpButton",
      AXTitle: "It",
      AXValue: "Red",
      menu: { AXRole: "AXMenu", frame: [200, 200, 100, 60], children: [item("Red"), item("Blue")] },
    },
    asked: "AXPress",
    shows: true,
  },
  "set-value": {
    command: "set-value",
    args: { value: "new" },
    node: { AXRole: "AXTextField", AXTitle: "It", AXValue: "old" },
    asked: "AXValue",
    shows: true,
  },
  clear: {
    command: "clear",
    node: { AXRole: "AXTextField", AXTitle: "It", AXValue: "old" },
    asked: "AXValue",
    shows: true,
  },
  type: {
    command: "type",
    args: { text: "new" },
    node: { AXRole: "AXTextArea", AXTitle: "It", AXValue: "old" },
    asked: "AXSelectedText",
    shows: true,
    showsLoss: true,
  },
  focus: {
    command: "focus",
    node: { AXRole: "AXTextField", AXTitle: "It" },
    asked: "AXFocused",
    shows: true,
  },
  "click on a cell": {
    command: "click",
    node: { AXRole: "AXCell", AXTitle: "It", actions: { AXOpen: [] } },
    asked: "AXOpen",
  },
  "click on a row": {
    command: "click",
    node: { AXRole: "AXRow", AXSubrole: "AXOutlineRow", AXTitle: "It" },
    asked: "AXSelected",
  },
  scroll: {
    command: "scroll",
    args: { direction: "down", amount: 1 },
    node: { AXRole: "AXButton", AXTitle: "It", actions: { AXScrollDownByPage: [] } },
    asked: "AXScrollDownByPage",
  },
  "scroll-to": {
    command: "scroll-to",
    // The element stays out of view. The command would scroll any other one into view.
    node: {
      AXRole: "AXButton",
      AXTitle: "It",
      actions: { AXScrollToVisible: [] },
      frame: [200, 2000, 120, 24],
    },
    asked: "AXScrollToVisible",
  },
}

/** AXError codes, each with the truth about an action that an app answered with it. */
const ANSWERS = {
  obeyed: [0, -25200, -25202, -25204, -25205, -25206, -25207, -25208, -25212, -25213],
  /** Nothing was done. Only a look at the element shows that. */
  ignored: [0, -25205],
  /** Nothing was done, and the answer proves it. */
  refused: [-25201, -25211],
} as const

const REACTS = { do: "note", text: "reacted" }

for (const [title, { command, args, node, asked, shows, showsLoss }] of Object.entries(ACTS)) {
  const sceneWith = (more: object) => {
    const own: { on?: Record<string, readonly object[]> } = node
    const on = { ...own.on, [asked]: [...(own.on?.[asked] ?? []), REACTS] }
    return appWith([{ ...at, ...node, on, ...more }])
  }
  const play = async (more: object, prove: (answer: Answer) => void) =>
    onMac(sceneWith(more), async ({ mac, ok, run, ref }) => {
      await ok("snapshot", { app: "Demo", offscreen: true })
      const envelope = await run(command, { ref_id: await ref("It"), ...args, timeout_ms: 400 })
      const { delivery } = (envelope.ok ? envelope.data : envelope.error).disposition
      const reactions = mac.record("note").length
      prove({ ok: envelope.ok, delivery, reactions, events: mac.record("post").length })
    })

  test(`${title}: an app that acts and answers with an error is not asked again`, async () => {
    for (const code of ANSWERS.obeyed) {
      await play({ lies: { [asked]: code } }, ({ ok, delivery, reactions, events }) => {
        expect({ code, reactions, events }).toEqual({ code, reactions: 1, events: 0 })
        const proved = shows && delivery === "delivered_verified" && ok
        const open = !shows && delivery !== "not_delivered"
        expect({ code, ok, delivery, honest: proved || open }).toMatchObject({ honest: true })
      })
    }
  })

  test(`${title}: an app that does nothing is not reported as done, and nothing else is tried`, async () => {
    for (const code of ANSWERS.ignored) {
      const more = code === 0 ? { ignores: [asked] } : { errors: { [asked]: { set: code } } }
      await play(more, ({ delivery, reactions, events }) => {
        expect({ code, reactions, isSent: events > 0 }).toEqual({
          code,
          reactions: 0,
          isSent: showsLoss ?? false,
        })
        if (showsLoss) return
        expect(delivery).not.toBe("delivered_verified")
        expect(delivery).not.toBe("not_delivered")
      })
    }
  })

  test(`${title}: after a plain refusal the pointer may do it, once`, async () => {
    for (const code of ANSWERS.refused) {
      await play({ errors: { [asked]: { set: code } } }, ({ delivery, reactions, events }) => {
        expect(reactions).toBeLessThanOrEqual(1)
        expect({ code, delivery, sent: events > 0 }).toEqual({
          code,
          delivery: events > 0 ? expect.stringContaining("delivered") : "not_delivered",
          sent: events > 0,
        })
      })
    }
  })
}

interface Answer {
  readonly ok: boolean
  readonly delivery: string
  readonly reactions: number
  readonly events: number
}

test("a button that disappears by its own action, and answers as if it had been gone before, may have acted", () =>
  onMac(
    appWith([
      {
        id: "it",
        AXRole: "AXButton",
        AXTitle: "Delete",
        frame: [200, 200, 80, 24],
        lies: { AXPress: -25202 },
        on: { AXPress: [{ do: "note", text: "deleted" }, { do: "remove" }] },
      },
    ]),
    async ({ mac, ok, run, ref }) => {
      await ok("snapshot", { app: "Demo" })
      const answer = await run("click", { ref_id: await ref("Delete"), timeout_ms: 1500 })
      expect(mac.record("note")).toHaveLength(1)
      expect(mac.record("post")).toEqual([])
      const { disposition } = answer.ok ? answer.data : answer.error
      expect(disposition.delivery).not.toBe("not_delivered")
      expect(disposition.retry).not.toBe("safe")
    },
  ))
