import { find, read } from '../repository.ts'

/** Commands of one `sh` or `console` fence, in order. */
export interface PrintedFence {
  readonly page: string
  readonly line: number
  readonly commands: readonly PrintedCommand[]
}

export interface PrintedCommand {
  /** As printed, without its prompt and its comment. */
  readonly command: string
  /** What a transcript shows below the command. */
  readonly shown: readonly string[]
}

const pages = [
  '*.md',
  '{packages,examples}/*/README.md',
  'packages/create-helix-agents/templates/*/README.md',
  'bench/README.md',
  'docs/*.md',
  'docs/{guide,modules,providers,recipes}/*.md',
  'decisions/*.md',
]
const fencePattern = /^```(?:sh|bash|console)[^\n]*\n(?<body>[\s\S]*?)^```$/gm
const anyFence = /^```(?<language>[^\n]*)\n(?<body>[\s\S]*?)^```$/gm
const prompt = '$ '
/** What else a page shows; `text` is a table, or a transcript of `helix`, which the CLI tests. */
const silentLanguages = /^(?:ts|ts run|ts fragment|tsx|text|jsonc?|yaml|ini|sql|dockerfile|html)$/
const program = /^(?:\$ )?(?:npm|npx|pnpm|bunx?|deno|node|curl|git|docker|podman|wrangler) /

/** Every fence with commands in the pages that users read. */
export function printedFences(): PrintedFence[] {
  return find(pages).flatMap((page) => fencesOf(page, read(page)))
}

/** The fences with commands of one page. */
export function fencesOf(page: string, text: string): PrintedFence[] {
  return [...text.matchAll(fencePattern)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    commands: commandsOf(match.groups?.body ?? ''),
  }))
}

/** Lines that look like commands in a fence that nothing runs, and fences of an unknown language. */
export function hiddenCommands(): string[] {
  return find(pages).flatMap((page) =>
    [...read(page).matchAll(anyFence)].flatMap(({ groups = {} }) => {
      const { language = '', body = '' } = groups
      if (/^(?:sh|bash|console)\b/.test(language)) return []
      if (!silentLanguages.test(language)) return [`${page}: a fence of "${language}"`]
      // What an example prints is compared with its README.
      if (language === 'text' && page.startsWith('examples/')) return []
      const lines = body.split('\n').filter((line) => program.test(line))
      return lines.map((line) => `${page}: ${line}`)
    }),
  )
}

/** A fence is a transcript when it has prompts; then the other lines are what is shown. */
export function commandsOf(body: string): PrintedCommand[] {
  const lines = body.replaceAll(/\\\n\s*/g, '').split('\n')
  const isTranscript = lines.some((line) => line.startsWith(prompt))
  const found: { command: string; shown: string[] }[] = []
  for (const line of lines) {
    const isCommand = isTranscript ? line.startsWith(prompt) : line.trim() !== ''
    const command = withoutComment(isTranscript ? line.slice(prompt.length) : line.trim())
    if (isCommand && command !== '') found.push({ command, shown: [] })
    else if (!isCommand && line !== '' && line !== '^C') found.at(-1)?.shown.push(line)
  }
  return found
}

/** A comment begins with a `#` after a space, or at the beginning of the line. */
function withoutComment(line: string): string {
  return line.replace(/(?:^|\s)#(?:\s|$).*$/, '').trim()
}
