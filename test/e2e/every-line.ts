/** Every command as something to do on a desktop with one window of stubborn.py; `$Name` is the ref of that control. */
export const LINES: readonly string[] = [
  "snapshot --app stubborn",
  "snapshot --window-id $window -i",
  "snapshot --app stubborn --skeleton",
  "snapshot --root $Press",
  "snapshot --app stubborn --surface menu",
  "find --app stubborn --role button",
  "get $Text value",
  "is $Check checked",
  "screenshot",
  "screenshot --window-id $window --annotate",
  "list-surfaces --app stubborn",
  "list-windows",
  "list-apps",
  "list-displays",
  "click $Press",
  "click $Press --input physical",
  "click $Press --changes",
  "double-click $Press",
  "triple-click $Text",
  "right-click $Press",
  "type $Text abc",
  "type $Text abc --input physical",
  "set-value $Text abc",
  "clear $Text",
  "focus $Text",
  "toggle $Check",
  "check $Check",
  "uncheck $Check",
  "expand $Expander",
  "collapse $Expander",
  "select $Combo two",
  "scroll $Scale",
  "scroll-to $Press",
  "press ctrl+a",
  "press ctrl+a --app stubborn",
  "key-down shift",
  "key-up shift",
  "hover $Press",
  "hover --xy 20,20",
  "drag --from $Press --to $Text",
  "drag --from-xy 5,5 --to-xy 9,9 --duration 100",
  "mouse-move --xy 5,5",
  "mouse-click --xy 600,900",
  "mouse-down --xy 600,900",
  "mouse-up --xy 600,900",
  "mouse-wheel --xy 600,900 --dy 1",
  "launch xterm",
  "focus-window $window",
  "resize-window $window 300 300",
  "move-window $window 30 30",
  "minimize $window",
  "maximize $window",
  "restore $window",
  "clipboard-set x",
  "clipboard-get",
  "clipboard-clear",
  "list-notifications",
  "dismiss-notification 0",
  "notification-action 0 x",
  "dismiss-all-notifications",
  "wait --element $Press --predicate gone",
  "wait --window nowhere",
  "wait --text nowhere --app stubborn",
  "wait --menu",
  "wait --notification",
  "wait 100",
  'batch [{"command":"click","args":{"ref_id":"$Press"}},{"command":"list-windows"}]',
  "status",
  "permissions",
  "permissions --request",
  "version",
  "doctor",
  "schema",
  "skills list",
  "completions bash",
  "mcp-config codex",
  "trace-show /nowhere",
  "trace-export /nowhere --output /nowhere.html",
  "list-desktops",
  "desktop-start --name other",
  "desktop-stop nowhere",
  // Last: where it works, nothing is left to ask of the app.
  "close-app stubborn",
]

/** Refs of a snapshot's nodes by their names. */
export function refsOf(tree: Node, refs = new Map<string, string>()): ReadonlyMap<string, string> {
  if (tree.ref_id && tree.name) refs.set(tree.name, tree.ref_id)
  for (const child of tree.children ?? []) refsOf(child, refs)
  return refs
}

interface Node {
  readonly ref_id?: string
  readonly name?: string
  readonly children?: readonly Node[]
}

/** The words of a line; only a batch's JSON holds blanks, and it has none here. */
export function wordsOf(line: string, names: ReadonlyMap<string, string>): string[] {
  const filled = line.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const ref = names.get(name)
    if (ref === undefined) throw new Error(`There is no ${name}`)
    return ref
  })
  return filled.split(" ")
}
