import { author } from "../package.json"
import { ar, type Entry, type Extras, gzip, tarGz } from "./archive.ts"
import { fillIn, template } from "./template.ts"

/** Debian's names for the targets that have a package. */
export const ARCHITECTURES = { "linux-x64": "amd64", "linux-arm64": "arm64" } as const

interface Package {
  readonly architecture: string
  readonly homepage?: string
  readonly version: string
  readonly binary: Uint8Array
  readonly extras: Extras
  readonly time: number
}

/** A .deb: the format's version, the control files for dpkg, and the files to install. */
export async function debianPackage({
  architecture,
  homepage,
  version,
  binary,
  extras,
  time,
}: Package): Promise<Buffer> {
  const { man, completions } = extras
  const files: Entry[] = [
    { path: "./usr/bin/agent-desktop", content: binary, isExecutable: true },
    ...PLACES.flatMap(([shell, path]) => (completions[shell] ? [{ path, content: completions[shell] }] : [])),
    { path: `${DOC}/changelog.gz`, content: gzip(Buffer.from(extras.changelog)) },
    { path: `${DOC}/copyright`, content: await template("debian/copyright") },
    { path: `${DOC}/THIRD-PARTY-NOTICES.gz`, content: gzip(Buffer.from(extras.notices)) },
    ...(man ? [{ path: "./usr/share/man/man1/agent-desktop.1.gz", content: gzip(Buffer.from(man)) }] : []),
  ]
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
  const control = fillIn(await template("debian/control"), {
    // Debian sorts a version with a tilde before the release: 1.0~rc1 is older than 1.0.
    version: version.replace("-", "~"),
    architecture,
    maintainer: author,
    homepage: homepage ? `Homepage: ${homepage}\n` : "",
    size: String(Math.ceil(bytes / 1024)),
  })
  const sums = files.map(({ path, content }) => `${md5(content)}  ${path.slice(2)}\n`).join("")
  const about: Entry[] = [
    { path: "./control", content: control },
    { path: "./md5sums", content: sums },
  ]
  return ar(
    [
      { path: "debian-binary", content: "2.0\n" },
      { path: "control.tar.gz", content: tarGz(about, time, { directories: true }) },
      { path: "data.tar.gz", content: tarGz(files, time, { directories: true }) },
    ],
    time,
  )
}

const DOC = "./usr/share/doc/agent-desktop"

const PLACES = [
  ["bash", "./usr/share/bash-completion/completions/agent-desktop"],
  ["zsh", "./usr/share/zsh/vendor-completions/_agent-desktop"],
  ["fish", "./usr/share/fish/vendor_completions.d/agent-desktop.fish"],
] as const

const md5 = (content: string | Uint8Array): string =>
  new Bun.CryptoHasher("md5").update(content).digest("hex")
