import { expect, test } from "bun:test"
import { Deadline } from "../../../src/deadline.ts"
import { Atspi } from "../../../src/linux/atspi/atspi.ts"
import { whenPressed } from "../../../src/linux/atspi/perform.ts"
import { ROLE } from "../../../src/linux/atspi/roles.ts"
import { TRAITS } from "../../../src/linux/atspi/toolkits.ts"
import { Bus } from "../../../src/linux/dbus/bus.ts"
import { until } from "../../support/until.ts"
import { startDaemon } from "../dbus/daemon.ts"

test("a GTK 4 button whose process ends during the press is not reported as pressed", async () => {
  await using daemon = await startDaemon()
  const bus = await Bus.open(daemon.address, Deadline.in(10_000))
  const press = (pid: number): Promise<boolean> => {
    const origin = {
      pid,
      app: "app",
      traits: TRAITS.gtk4,
      popups: async () => [],
      shift: undefined,
    }
    const element = { ref: { bus: ":1.0", path: "/a" }, origin }
    return whenPressed(new Atspi(bus, Deadline.in(5000)), element, ROLE.PUSH_BUTTON)
  }
  const pressed = async (isEnded: boolean): Promise<boolean> => {
    const app = Bun.spawn(["sleep", "60"])
    const pressing = press(app.pid)
    if (isEnded) app.kill("SIGKILL")
    const answer = await pressing
    app.kill("SIGKILL")
    await app.exited
    return answer
  }
  expect(await pressed(false)).toBe(true)
  // On a busy machine, the process may live until the button is pressed, or the check may come too late.
  await until(async () => !(await pressed(true)))
  bus.close()
})
