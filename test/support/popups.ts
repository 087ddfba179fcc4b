import type { TestDesktop } from "./desktop.ts"

/** Lists visible windows that the window manager does not manage, such as menus, drop-down lists and tooltips, by xwininfo. */
export async function popupsOn(desktop: TestDesktop): Promise<readonly string[]> {
  const look = async (...args: string[]): Promise<string> => {
    const child = Bun.spawn(["xwininfo", ...args], { env: { ...desktop.env }, stderr: "ignore" })
    return new Response(child.stdout).text()
  }
  const children = [...(await look("-root", "-children")).matchAll(/^ {5}(0x[0-9a-f]+) (.*)$/gm)]
  const facts = await Promise.all(children.map(([, id]) => look("-id", id!)))
  return children.flatMap(([, , title], i) => {
    const fact = facts[i]!
    const isPopup = fact.includes("Override Redirect State: yes") && fact.includes("IsViewable")
    // Openbox has a window of its own, outside the screen.
    return isPopup && !/Absolute upper-left X:\s+-/.test(fact) ? [title!] : []
  })
}
