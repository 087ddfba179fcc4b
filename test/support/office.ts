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
  await writeProfile(profile, locale)
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

/** Settings of LibreOffice with which it asks nothing, and shows no tip of the day. */
export async function writeProfile(directory: string, locale = "en-US"): Promise<void> {
  mkdirSync(`${directory}/user`, { recursive: true })
  await Bun.write(`${directory}/user/registrymodifications.xcu`, settings(locale))
}

/** A presentation with one slide and a table on it, as a .fodp file. */
export function deckWith(rows: readonly (readonly string[])[]): string {
  const cell = (text: string): string =>
    `<table:table-cell>${text && `<text:p>${text}</text:p>`}</table:table-cell>`
  const row = (texts: readonly string[]): string =>
    `<table:table-row>${texts.map(cell).join("")}</table:table-row>`
  return `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.presentation">
<office:body><office:presentation><draw:page draw:name="One">
<draw:frame draw:name="Grid" svg:width="20cm" svg:height="6cm" svg:x="3cm" svg:y="4cm"><table:table><table:table-column/><table:table-column/>
${rows.map(row).join("")}
</table:table></draw:frame></draw:page></office:presentation></office:body></office:document>`
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
