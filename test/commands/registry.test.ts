import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { ACTION_OF } from "../../src/act/expect.ts"
import { type Command, GROUPS } from "../../src/command.ts"
import { commands } from "../../src/commands/index.ts"
import { fieldsOf } from "../../src/schema/fields.ts"
import { gapsOf } from "../support/every-command.ts"

const loaded = await Promise.all(
  Object.entries(commands).map(async ([key, load]) => ({ key, command: await load() })),
)

describe.each(loaded)("$key", ({ key, command }) => {
  test("is the name of the command", () => {
    expect(command.name).toBe(key)
    expect(key).toMatch(/^[a-z]+(-[a-z]+)*$/)
  })

  test("is complete: effect, MCP tool, trace, schemas, text and sample", () => {
    expect(gapsOf(command)).toEqual([])
  })

  test("has a summary, in a group that exists", () => {
    expect(GROUPS).toContain(command.group)
    expect(command.summary).toMatch(/^[A-Z].*[^.\s]$/)
    expect(command.summary.length).toBeLessThanOrEqual(100)
  })

  test("describes each of its arguments, and takes a time limit", () => {
    const fields = fieldsOf(command.input)
    for (const { name, description } of fields) {
      expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(description).toMatch(/^[A-Za-z].*[^.\s]$/)
    }
    expect(fields.find((field) => field.name === "timeout_ms")).toMatchObject({
      aliases: ["timeout"],
      required: false,
      min: 0,
    })
  })
})

test("every command in src/commands is in its index.ts, and its variable has its name", async () => {
  const folder = join(import.meta.dir, "../../src/commands")
  const files = [...new Bun.Glob("*.ts").scanSync(folder)].filter((file) => file !== "index.ts")
  const defined = (await Promise.all(files.map((file) => import(join(folder, file))))).flatMap((module) =>
    Object.entries<Command>(module),
  )
  expect(defined.map(([, { name }]) => name).sort()).toEqual(Object.keys(commands).sort())
  const camel = (name: string) => name.replaceAll(/-./g, (part) => part.slice(1).toUpperCase())
  expect(defined.filter(([variable, { name }]) => variable !== camel(name))).toEqual([])
})

test("index.ts is in alphabetical order", () => {
  const names = Object.keys(commands)
  expect(names).toEqual(names.toSorted())
})

test("every action has its own command", () => {
  expect(Object.keys(ACTION_OF).filter((kind) => !Object.hasOwn(commands, kind))).toEqual([])
})

test("a name that every object has, such as toString, is not a command", async () => {
  const { findCommand } = await import("../../src/command.ts")
  for (const name of ["constructor", "toString", "__proto__", ""])
    expect(findCommand(commands, name)).toBeUndefined()
})
