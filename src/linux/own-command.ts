/** How to start this same program again in one of the parts that src/internal.ts names. */
export function ownCommand(part: string): readonly string[] {
  const isCompiled = import.meta.dir.startsWith("/$bunfs")
  return [process.execPath, ...(isCompiled ? [] : [new URL("../main.ts", import.meta.url).pathname]), part]
}
