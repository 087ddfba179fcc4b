import { expect, test } from "bun:test"
import { installCommand } from "../../../src/linux/desktops/packages.ts"

for (const [osRelease, command] of [
  ["ID=debian\n", "sudo apt-get install -y xvfb dbus"],
  ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', "sudo apt-get install -y xvfb dbus"],
  ['ID="linuxmint"\nID_LIKE="ubuntu debian"\n', "sudo apt-get install -y xvfb dbus"],
  ["ID=fedora\n", "sudo dnf install -y xorg-x11-server-Xvfb dbus-daemon"],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', "sudo dnf install -y xorg-x11-server-Xvfb dbus-daemon"],
  ["ID=arch\n", "sudo pacman -S --needed xorg-server-xvfb dbus"],
  ["", "Install the packages that bring Xvfb, dbus-daemon (on Debian: xvfb dbus)"],
] as const) {
  test(`the missing programs come with '${command}' if os-release is ${JSON.stringify(osRelease)}`, () => {
    expect(installCommand(["Xvfb", "dbus-daemon"], osRelease)).toBe(command)
  })
}
