import * as v from "valibot"
import { placeCaret, select } from "../act/text.ts"
import { defineCommand } from "../command.ts"
import { rangeNamed } from "../look/text-range.ts"
import { oneOf, optionalText, targetInput, whole } from "../schema/inputs.ts"
import {
  acted,
  count,
  described,
  disposition,
  element,
  fieldFocus,
  optionalString,
  place,
  refId,
} from "../schema/outputs.ts"

/** Text by character offsets: the selection and the caret. */

const textActed = (name: string) =>
  acted(name, {
    ref_id: refId(),
    element: element(),
    start: described(count(), "First character, from 0"),
    end: described(count(), "After the last character"),
    text: described(optionalString(), "The selected text, or the start of it"),
    method: v.string(),
    already: v.optional(v.literal(true)),
    disposition: disposition(),
    ...fieldFocus(),
    ...place(),
  })

const number = (description: string) => v.optional(whole(description, 1, 1_000_000, { value: "N" }))

export const selectText = defineCommand({
  name: "select-text",
  summary: "Select a part of a text: a string, a range of characters, a word or a paragraph",
  group: "act",
  effect: "harmless",
  repeatable: true,
  tool: "all",
  trace: "pictures",
  input: {
    ...targetInput,
    match: optionalText("This text, as it is written there", { value: "TEXT" }),
    nth: v.optional(whole("Which of several matches, from 1", 1, 1_000_000, { value: "N" }), 1),
    range: optionalText("Characters from S up to E, from 0, such as 10:25", { value: "S:E", traced: true }),
    word: number("The word with this number, from 1"),
    paragraph: number("The paragraph with this number, from 1"),
  },
  output: () => textActed("select-text"),
  print: "facts",
  sample: { ref_id: "$field", range: "0:2" },
  examples: [
    'agent-desktop select-text @e5 --match "quarterly report"',
    "agent-desktop select-text @e5 --word 3",
  ],
  check(args) {
    oneOf(args, ["match", "range", "word", "paragraph"])
    if (args.range !== undefined) rangeNamed(args.range)
  },
  run: (args, ctx) => select(ctx, args, args),
})

export const caret = defineCommand({
  name: "caret",
  summary: "Place the caret of a text before the character with this number",
  group: "act",
  effect: "harmless",
  repeatable: true,
  tool: "all",
  trace: "pictures",
  input: {
    ...targetInput,
    offset: whole("Characters before it, from 0", 0, 2_147_483_647, { position: 1, value: "N" }),
  },
  output: () => textActed("caret"),
  print: "facts",
  sample: { ref_id: "$field", offset: 3 },
  examples: ["agent-desktop caret @e5 0"],
  run: (args, ctx) => placeCaret(ctx, args, args.offset),
})
