import { expect, test } from "bun:test"
import { version } from "../../package.json"
import { temporaryForFile } from "../support/temporary.ts"
import { run, standInRelease } from "./stand-in-release.ts"

const out = await standInRelease(temporaryForFile())

test.each([
  [`agent-desktop-${version}-linux-x64.tar.gz`, `agent-desktop-${version}/README.md`],
  [`npm-agent-desktop-${version}.tgz`, "package/README.md"],
])("the README in %s needs neither pages nor a checkout", (archive, path) => {
  const { text } = run(["tar", "-xzOf", archive, path], out)
  expect(text).toContain("agent-desktop skills get core")
  expect(text.match(/\]\((?!https?:)[^)]*\)/g)).toBeNull()
  expect(text).not.toContain("no published release")
  expect(text).not.toContain("bun@")
  expect(text).not.toContain("checkout")
})
