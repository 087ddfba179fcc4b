import { mkdirSync } from "node:fs"
import type { TestDesktop } from "./desktop.ts"
import { until } from "./until.ts"

export interface OfficeOptions {
  /** The part of LibreOffice that opens the file. */
  readonly part: "calc" | "writer" | "impress"
  readonly file: string
  /** The locale of numbers and dates, such as `de-DE`. */
  readonly locale?: string
}

/** Opens a file with LibreOffice, with a profile of its own. Saving asks nothing. Returns the window. */
export async function openInOffice(
  desktop: TestDesktop,
  { part, file, locale = "en-US" }: OfficeOptions,
): Promise<string> {
  const profile = `${desktop.directory}/office-${locale}`
  mkdirSync(`${profile}/user`, { recursive: true })
  await Bun.write(`${profile}/user/registrymodifications.xcu`, settings(locale))
  const name = file.split("/").at(-1)!
  desktop.spawnApp([
    "soffice",
    "--norestore",
    "--nologo",
    "--nofirststartwizard",
    `-env:UserInstallation=file://${profile}`,
    `--${part}`,
    file,
  ])
  return until(async () => {
    const { json } = await desktop.run("list-windows")
    return json?.data?.windows.find((one: { title: string }) => one.title.includes(name))?.id
  }, 90_000)
}

function settings(locale: string): string {
  const set = (path: string, name: string, value: string): string =>
    `<item oor:path="/org.openoffice.${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${set("Setup/L10N", "ooSetupSystemLocale", locale)}
${set("Office.Common/Save/Document", "WarnAlienFormat", "false")}
${set("Office.Common/Misc", "ShowTipOfTheDay", "false")}
</oor:items>`
}
