type AsyncMethods = Record<string, (...args: never[]) => Promise<unknown>>

/**
 * An object of asynchronous methods that is made when the first of them is called: what a command
 * turns out not to need is never loaded.
 */
export function lazily<T extends { [K in keyof T]: (...args: never[]) => Promise<unknown> }>(
  make: () => Promise<T>,
): T {
  let made: Promise<T> | undefined
  const call =
    (name: string) =>
    async (...args: never[]): Promise<unknown> => {
      made ??= make()
      const methods: AsyncMethods = await made
      return methods[name]?.(...args)
    }
  // A proxy stands for an object that is not there yet; no type can say so.
  return new Proxy({}, { get: (_, name) => call(String(name)) }) as T
}
