import { findCommand, loadAll, type Registry } from "../command.ts"
import { type Field, fieldsOf, type Input, positionalsOf, spellingsOf } from "../schema/fields.ts"

export type Shell = "bash" | "zsh" | "fish"

/** A word that may come at the cursor. */
export interface Candidate {
  readonly value: string
  readonly description?: string
}

/** Kinds of candidates that come from the live desktop. */
export type Live = "app" | "window" | "ref" | "desktop"

export interface Sources {
  readonly commands: Registry
  readonly globals: Input
  live(kind: Live): Promise<readonly Candidate[]>
}

/** The candidates for the last word of a command line that ends at the cursor. */
export async function complete(line: string, sources: Sources): Promise<readonly Candidate[]> {
  const [, ...words] = shellWords(line)
  const current = words.pop() ?? ""
  const all = await candidatesFor(words, current, sources)
  return all.filter(({ value }) => value.startsWith(current))
}

/** The words of a line as a shell splits them. The cursor is at the end of the last one. */
export function shellWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ""
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ""
    if (char === "\\" && quote !== "'" && at + 1 < line.length) word = `${word ?? ""}${line[++at]}`
    else if (quote !== "") {
      if (char === quote) quote = ""
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      word ??= ""
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = `${word ?? ""}${char}`
  }
  return [...words, word ?? ""]
}

/** The script that a shell reads once. It asks the program for candidates at every completion. */
export const completionScript = (shell: Shell): string => SCRIPTS[shell]

async function candidatesFor(
  words: readonly string[],
  current: string,
  sources: Sources,
): Promise<readonly Candidate[]> {
  const ofAll = fieldsOf(sources.globals)
  const before = read(words, ofAll, 1)
  if (before.waiting) return valuesOf(before.waiting, sources)
  const [name] = before.places
  if (name === undefined) {
    return current.startsWith("-") ? ofAll.flatMap(flagsOf) : commandNames(sources.commands, true)
  }
  if (name === "help") return commandNames(sources.commands, false)
  const command = await findCommand(sources.commands, name)?.()
  if (!command) return []
  const fields = fieldsOf(command.input)
  const after = read(words.slice(before.at), [...fields, ...ofAll])
  if (after.waiting) return valuesOf(after.waiting, sources)
  if (current.startsWith("-") && !after.ended) {
    const open = [...fields, ...ofAll].filter((field) => field.kind === "list" || !after.given.has(field))
    return open.flatMap(flagsOf)
  }
  const place = positionalsOf(fields).filter((field) => !after.given.has(field))[after.places.length]
  return place ? valuesOf(place, sources) : []
}

/** State of the line before the cursor. */
interface Read {
  readonly places: readonly string[]
  readonly given: ReadonlySet<Field>
  /** The flag whose value comes next. */
  readonly waiting?: Field
  readonly ended: boolean
  readonly at: number
}

function read(words: readonly string[], fields: readonly Field[], most = Number.POSITIVE_INFINITY): Read {
  const places: string[] = []
  const given = new Set<Field>()
  let waiting: Field | undefined
  let ended = false
  let at = 0
  for (; at < words.length && places.length < most; at++) {
    const word = words[at] ?? ""
    if (waiting) waiting = undefined
    else if (ended || !word.startsWith("-")) places.push(word)
    else if (word === "--") ended = true
    else {
      const [flag = ""] = word.split("=", 1)
      const field = fields.find((one) => spellingsOf(one).includes(flag))
      if (field) given.add(field)
      waiting = field && field.kind !== "boolean" && flag === word ? field : undefined
    }
  }
  return { places, given, waiting, ended, at }
}

async function valuesOf(field: Field, sources: Sources): Promise<readonly Candidate[]> {
  if (field.choices) return field.choices.map((value) => ({ value }))
  if (field.placeholder === "COMMAND") return commandNames(sources.commands, false)
  const kind = liveOf(field)
  return kind ? sources.live(kind) : []
}

function liveOf({ name, target }: Field): Live | undefined {
  if (target) return "ref"
  if (name === "window_id") return "window"
  if (name === "desktop") return "desktop"
  return name === "app" ? "app" : undefined
}

function flagsOf({ flag, default: fallback, description }: Field): readonly Candidate[] {
  return [{ value: fallback === true ? `--no-${flag.slice(2)}` : flag, description }]
}

async function commandNames(commands: Registry, withHelp: boolean): Promise<readonly Candidate[]> {
  const loaded = await loadAll(commands)
  return [
    ...loaded.map(({ name, summary }) => ({ value: name, description: summary })),
    ...(withHelp ? [{ value: "help", description: "Explain a command" }] : []),
  ]
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# bash completion for agent-desktop:  eval "$(agent-desktop completions bash)"
_agent_desktop() {
  local line=\${COMP_LINE:0:COMP_POINT} word value description prefix=
  # Readline replaces only what comes after the last of its word breaks: a ref's @ is one of them.
  word=\${line##*[[:space:]]}
  [[ $word == *[@:=]* ]] && prefix=\${word%"\${word##*[@:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    [[ $prefix && $COMP_WORDBREAKS == *"\${prefix: -1}"* ]] && value=\${value#"$prefix"}
    printf -v value %q "$value"
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]}" completions bash --line="$line" 2>/dev/null)
}
complete -o default -F _agent_desktop agent-desktop
`,
  zsh: `#compdef agent-desktop
# zsh completion for agent-desktop:  source <(agent-desktop completions zsh)
_agent_desktop() {
  local -a lines values shown
  local line
  lines=("\${(@f)$(\${words[1]} completions zsh --line="\${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    [[ -z $line ]] && continue
    values+=("\${line%%$'\\t'*}")
    shown+=("\${line/$'\\t'/  -- }")
  done
  if (( \${#values} )); then
    compadd -l -d shown -- $values
  else
    _files
  fi
}
if [[ $funcstack[1] == _agent_desktop ]]; then
  _agent_desktop "$@"
else
  compdef _agent_desktop agent-desktop
fi
`,
  fish: `# fish completion for agent-desktop:  agent-desktop completions fish | source
function __agent_desktop_complete
    set -l program (commandline -opc)[1]
    $program completions fish --line=(commandline -cp | string collect) 2>/dev/null
end
complete -c agent-desktop -f -a '(__agent_desktop_complete)'
complete -c agent-desktop -n '__fish_seen_subcommand_from screenshot' -F
`,
}
