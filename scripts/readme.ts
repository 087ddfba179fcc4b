/**
 * The README for packages, which contain neither docs/ nor the sources: without pictures, without the parts between
 * `<!-- checkout -->` and `<!-- /checkout -->`, and with the paths of linked pages as text.
 */
export function packagedReadme(readme: string): string {
  const text = readme
    .replaceAll(/<!-- checkout -->\n[\s\S]*?<!-- \/checkout -->\n\n?/g, "")
    .replaceAll(/^!\[.*\n\n?/gm, "")
    .replaceAll(
      /(\()?\[([^\]]*)\]\((?!https?:)([^)\s]*)\)/g,
      (_, bracket = "", label: string, path: string) => {
        if (path.startsWith(label)) return bracket + label
        return bracket ? `(${label}: ${path}` : `${label} (${path})`
      },
    )
  return `${text.trimEnd()}\n\nPages such as docs/speed.md are in the sources of the project.\n`
}
