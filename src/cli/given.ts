/** The value of an option in a command line that could not be read, from the words as they stand there. */
export function givenOption(argv: readonly string[], flag: string): string | undefined {
  const end = argv.indexOf("--")
  const words = end < 0 ? argv : argv.slice(0, end)
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at < 0) return undefined
  return words[at] === flag ? words[at + 1] : words[at]?.slice(flag.length + 1)
}
