import { expect, test } from "bun:test"
import { type Toolkit, TRAITS, traitsOf } from "../../../src/linux/atspi/toolkits.ts"

test.each<[toolkitName: string, app: string, toolkit: Toolkit]>([
  ["gtk", "gedit", "gtk3"],
  ["GTK", "gnome-text-editor", "gtk4"],
  ["Qt", "kate", "qt"],
  ["Chromium", "chromium", "chromium"],
  ["Gecko", "Firefox", "firefox"],
  ["gtk", "soffice", "libreoffice"],
  ["GAIL", "gimp", "other"],
  ["", "", "other"],
  ["constructor", "constructor", "other"],
])("the toolkit '%s' of '%s' has the traits of %s", (toolkitName, app, toolkit) => {
  expect(traitsOf(toolkitName, app)).toBe(TRAITS[toolkit])
})

test("LibreOffice has its own quirks with any toolkit", () => {
  const { coordinates, cache, mixesCoordinates, rootPaneIgnoresMenuBar } = traitsOf("GTK", "soffice")
  expect({ coordinates, cache, mixesCoordinates, rootPaneIgnoresMenuBar }).toEqual({
    coordinates: "window",
    cache: "partial",
    mixesCoordinates: true,
    rootPaneIgnoresMenuBar: undefined,
  })
})

test("the cache of LibreOffice on GTK 3 is not read", () => {
  expect(TRAITS.gtk3.cache).toBeDefined()
  expect(TRAITS.libreoffice.cache).toBeUndefined()
})
