// The program that shows what a removed `/workspace` does to a sandbox, on the provider: each step
// as its first author wrote it, then those of the reports that followed.
import type { Workspace } from '@helix-agents/core/provider'

interface StepResult {
  readonly ok: boolean
  readonly output?: string
  readonly error?: string
}

export interface Reproduction {
  readonly results: Readonly<Record<string, StepResult>>
  readonly bugPresent: boolean
}

type Step = readonly [name: string, run: (ws: Workspace) => Promise<unknown>]

const run =
  (command: string) =>
  async ({ shell }: Workspace): Promise<string> => {
    const { stdout, stderr, exitCode } = await shell!.run(command)
    if (exitCode !== 0) throw new Error(`exit ${exitCode}: ${new TextDecoder().decode(stderr)}`)
    return new TextDecoder().decode(stdout)
  }

const removal: readonly Step[] = [
  ['baseline', run('echo "baseline"')],
  ['removal', run('rm -rf /workspace')],
  ['after_removal', run('echo "after removal"')],
  ['recreate', run('mkdir -p /workspace')],
  ['removal_again', run('rm -rf /workspace')],
  ['list', ({ fs }) => fs!.ls('/')],
  ['removal_before_write', run('rm -rf /workspace')],
  ['write', ({ fs }) => fs!.writeFile('/a.txt', 'x')],
  ['read', ({ fs }) => fs!.readFile('/a.txt')],
  ['removal_before_mkdir', run('rm -rf /workspace')],
  ['mkdir', ({ fs }) => fs!.mkdir('/d')],
  ['removal_before_code', run('rm -rf /workspace')],
  ['code', ({ code }) => code!.runCode('python', 'print(1)')],
  ['removal_before_background', run('rm -rf /workspace')],
  ['background', ({ shell }) => shell!.start!('true')],
  ['removal_before_search', run('rm -rf /workspace')],
  ['glob', ({ fs }) => fs!.glob('**')],
  ['grep', ({ fs }) => fs!.grep('x')],
  ['parallel', (ws) => Promise.all([1, 2, 3].map((n) => run(`rm -rf /workspace; echo ${n}`)(ws)))],
  ['at_last', run('echo "at last"')],
]

const link: readonly Step[] = [
  ['backup', run('mkdir -p /tmp/workspace_backup && echo kept > /tmp/workspace_backup/kept.txt')],
  ['replace', run('rm -rf /workspace && ln -sf /tmp/workspace_backup /workspace')],
  ['after_link', run('pwd && ls -la /workspace')],
  ['read_through_link', run('cat kept.txt')],
  ['write_through_link', run('echo new > new.txt && cat /tmp/workspace_backup/new.txt')],
]

export async function reproduceRemoval(ws: Workspace): Promise<Reproduction> {
  const results: Record<string, StepResult> = {}
  for (const [name, step] of [...removal, ...link]) results[name] = await attempt(step, ws)
  return { results, bugPresent: Object.values(results).some(({ ok }) => !ok) }
}

async function attempt(step: Step[1], ws: Workspace): Promise<StepResult> {
  try {
    const output = await step(ws)
    return typeof output === 'string' ? { ok: true, output } : { ok: true }
  } catch (error) {
    return { ok: false, error: String(error) }
  }
}
