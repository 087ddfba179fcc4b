import { defineCommand } from "../command.ts"
import { versionFacts } from "../version.ts"

export default defineCommand({
  name: "version",
  summary: "Print the version and what this binary was built for",
  group: "system",
  readOnly: true,
  input: {},
  run: async () => versionFacts(),
})
