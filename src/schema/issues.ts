import type { BaseIssue } from "valibot"
import { nearest } from "../nearest.ts"
import type { Field } from "./fields.ts"
import { labelOf, notAChoice, shown } from "./usage-errors.ts"

/** Describes what is wrong with an argument, spelled as on the command line. */
export function describeIssue(issue: BaseIssue<unknown>, fields: readonly Field[]): string {
  const [first, ...rest] = issue.path ?? []
  if (!first)
    return isOwnWording(issue) ? issue.message : `Arguments must be an object, got ${shown(issue.input)}`
  const name = String(first.key)
  const field = fields.find((candidate) => candidate.name === name)
  if (!field) return unknownMember(name, fields)
  const where = rest.map((step) =>
    typeof step.key === "number" ? ` (item ${step.key + 1})` : `.${step.key}`,
  )
  const subject = labelOf(field) + where.join("")
  if (issue.type === "strict_object" && issue.input === undefined) return `${subject} is missing`
  if (!isOwnWording(issue)) return `${subject} ${problemOf(issue, field)}`
  const got = field.freeText ? "" : `; got ${shown(issue.input)}`
  return `${subject}${issue.message.startsWith("must ") ? "" : ":"} ${issue.message}${got}`
}

/** valibot's default messages start like this. Every other message is our own. */
const isOwnWording = (issue: BaseIssue<unknown>) =>
  !/^Invalid [a-z ]+: (Expected|Received) /i.test(issue.message)

function unknownMember(name: string, fields: readonly Field[]): string {
  const near = nearest(
    name,
    fields.flatMap((field) => [field.name, ...field.aliases]),
  )
  if (near !== undefined) return `Unknown argument ${shown(name)}; did you mean '${near}'?`
  return `Unknown argument ${shown(name)}; known are ${fields.map((field) => field.name).join(", ")}`
}

function problemOf(issue: BaseIssue<unknown>, field: Field): string {
  const limit = String(issue.requirement)
  // Free text is not repeated: it may be secret, and messages are stored.
  const got = field.freeText ? "" : `, got ${shown(issue.input)}`
  switch (issue.type) {
    case "picklist":
      return notAChoice(field, issue.input)
    case "min_value":
      return `must be at least ${limit}${got}`
    case "max_value":
      return `must be at most ${limit}${got}`
    case "gt_value":
      return `must be more than ${limit}${got}`
    case "lt_value":
      return `must be less than ${limit}${got}`
    case "integer":
    case "safe_integer":
      return `must be a whole number${got}`
    case "finite":
      return `must be a finite number${got}`
    case "number":
    case "string":
    case "boolean":
      return `must be a ${issue.type}${got}`
    case "array":
      return `must be an array${got}`
    case "non_empty":
      return "must not be empty"
    case "min_length":
      return issue.requirement === 1 ? "must not be empty" : `must have at least ${limit} ${unitOf(field)}`
    case "max_length":
      return `must have at most ${limit} ${unitOf(field)}`
    default:
      return `is not valid${got}`
  }
}

const unitOf = (field: Field) => (field.kind === "list" || field.kind === "json" ? "elements" : "characters")
