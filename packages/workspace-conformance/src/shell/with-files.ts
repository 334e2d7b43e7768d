import type { OutputCut, RunResult, Workspace } from '@helix-agents/core/provider'
import { check, equal, equalBytes, rejectionOf, rejectsWithCode } from '../assert.ts'
import { read } from '../file-system/files.ts'
import { filesOf } from '../provider/provider-subject.ts'
import { makeOutside } from './links.ts'
import { unguessable } from '../unguessable.ts'
import { outputOf, run, type ShellBehaviour, stillWorks } from './shell-subject.ts'

const LINES = 1500
const MAX_OUTPUT_BYTES = 1000
const COUNT = `i=0; while [ $i -lt ${LINES} ]; do echo line-$i; i=$((i + 1)); done`

const wholeCount = (): string => Array.from({ length: LINES }, (_, n) => `line-${n}\n`).join('')

/** A cut output is the head and the tail of the whole, within the budget. */
async function checkCut(
  ws: Workspace,
  output: Uint8Array,
  cut: OutputCut | undefined,
): Promise<void> {
  check(cut !== undefined, 'a note about the cut')
  const whole = new TextEncoder().encode(wholeCount())
  equal(cut.totalBytes, whole.length)
  check(output.length <= MAX_OUTPUT_BYTES, `at most ${MAX_OUTPUT_BYTES} bytes`)
  const tailBytes = output.length - cut.headBytes
  check(cut.headBytes > 0 && tailBytes > 0, 'a head and a tail')
  equalBytes(output.subarray(0, cut.headBytes), whole.subarray(0, cut.headBytes))
  equalBytes(output.subarray(cut.headBytes), whole.subarray(whole.length - tailBytes))
  if (cut.path !== undefined) equalBytes(await filesOf(ws).readFile(cut.path), whole)
}

/** The next command works, or says that the directory is missing. */
async function worksOrNames(ws: Workspace): Promise<void> {
  const attempt = await run(ws, 'echo fine').catch((error: unknown) => error)
  if (isResult(attempt)) return equalBytes(attempt.stdout, 'fine\n')
  await rejectsWithCode('working-directory-missing', () => Promise.reject(attempt))
}

/** A file by which a command sees that it stands in the workspace, and in nothing else. */
async function markRoot(ws: Workspace): Promise<string> {
  const name = unguessable()
  await filesOf(ws).writeFile(`/${name}`, 'x')
  equal(await outputOf(ws, 'ls -A'), name)
  return name
}

async function replaceRootByLink(ws: Workspace): Promise<void> {
  // Beside the workspace it is removed with the backend: afterwards there may be no shell to do it.
  const outside = await makeOutside(ws, '$PWD-', '/tmp/')
  const mark = await markRoot(ws)
  await run(
    ws,
    `[ "$(ls -A)" = ${mark} ] && root=$PWD && cd / && rm -rf "$root" && ln -s '${outside}' "$root"`,
  )
  await worksOrNames(ws)
}

function isResult(value: unknown): value is RunResult {
  return typeof value === 'object' && value !== null && 'exitCode' in value
}

export const shellFileBehaviours: readonly ShellBehaviour[] = [
  {
    id: 'shell/files/of-fs-are-seen-by-commands',
    needs: ['fs'],
    run: async (ws) => {
      await filesOf(ws).writeFile('/d/in put.txt', 'zß水🍌')
      equal(await outputOf(ws, 'cat "d/in put.txt"'), 'zß水🍌')
      equal(await outputOf(ws, ['cat', `${ws.shellRoot}/d/in put.txt`]), 'zß水🍌')
    },
  },
  {
    id: 'shell/files/of-commands-are-seen-by-fs',
    needs: ['fs'],
    run: async (ws) => {
      await run(ws, "mkdir -p d; printf 'made\\n' > d/out.txt; printf 1 > 'odd %_name'")
      const fs = filesOf(ws)
      equal(await read(fs, '/d/out.txt'), 'made\n')
      equal(await fs.glob('**'), ['/d/out.txt', '/odd %_name'])
      const { version } = await fs.stat('/d/out.txt')
      await run(ws, 'echo changed > d/out.txt')
      equal((await fs.stat('/d/out.txt')).version === version, false)
      equal(await read(fs, '/d/out.txt'), 'changed\n')
    },
  },
  {
    id: 'shell/output/a-long-one-keeps-head-and-tail',
    needs: ['fs'],
    slow: true,
    run: async (ws) => {
      const result = await run(ws, COUNT, { maxOutputBytes: MAX_OUTPUT_BYTES })
      equal(result.exitCode, 0)
      await checkCut(ws, result.stdout, result.stdoutCut)
      equal(result.stderrCut === undefined, true)
    },
  },
  {
    id: 'shell/output/stderr-is-cut-the-same-way',
    needs: ['fs'],
    slow: true,
    run: async (ws) => {
      const result = await run(ws, `{ ${COUNT}; } >&2`, { maxOutputBytes: MAX_OUTPUT_BYTES })
      await checkCut(ws, result.stderr, result.stderrCut)
      equal([result.stdout.length, result.stdoutCut === undefined], [0, true])
    },
  },
  {
    id: 'shell/output/within-the-budget-is-whole',
    run: async (ws) => {
      const size = 300_000
      const command = `head -c ${size} /dev/zero | tr '\\0' x`
      const result = await run(ws, command, { maxOutputBytes: size })
      equal([result.stdout.length, result.stdoutCut === undefined], [size, true])
    },
  },
  {
    id: 'shell/root/removed-from-inside-is-no-end',
    needs: ['fs'],
    run: async (ws) => {
      const mark = await markRoot(ws)
      await run(ws, `[ "$(ls -A)" = ${mark} ] && { rm -rf "$PWD"; rm -rf ./* ./.[!.]*; }`)
      await worksOrNames(ws)
      await filesOf(ws).writeFile('/b', 'again')
      await stillWorks(ws)
      equal(await read(filesOf(ws), '/b'), 'again')
    },
  },
  {
    id: 'shell/root/replaced-by-a-link-leads-nowhere',
    needs: ['fs'],
    run: async (ws) => {
      await replaceRootByLink(ws)
      // A container of its own holds nothing that is not the workspace's to reach.
      if (ws.isolation === 'container') return
      await rejectionOf(() => filesOf(ws).readFile('/private.txt'))
    },
  },
  {
    id: 'shell/root/replaced-by-a-link-is-one-place-for-files-and-commands',
    needs: ['fs'],
    run: async (ws) => {
      await replaceRootByLink(ws)
      const fs = filesOf(ws)
      const [found] = await Promise.allSettled([read(fs, '/private.txt')])
      if (found.status === 'fulfilled')
        equal(await outputOf(ws, 'cat private.txt'), found.value.trim())
      const [made] = await Promise.allSettled([fs.writeFile('/made', 'made')])
      if (made.status === 'fulfilled') equal(await outputOf(ws, 'cat made'), 'made')
    },
  },
]
