import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { probeNamespace } from '../../src/shell/namespace/namespace.ts'

const PACKAGE = join(import.meta.dirname, '../..')
const { namespace } = await probeNamespace()

let base: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'helix-descriptors-'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const SCRIPT = `
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { systemClock, noopLogger } from '@helix-agents/core'
const [, tmpdirRoot, containment] = process.argv
const provider = new LocalBashWorkspaceProvider({ tmpdirRoot, containment })
const options = { workspace: 'w', capabilities: {}, signal: new AbortController().signal,
  logger: noopLogger, clock: systemClock }
const { ws } = await provider.open({ kind: 'local-bash' }, { sessionId: 's', agentType: 'a' }, options)
const { stdout } = await ws.shell.run('cat <&9; cat <&3; readlink /proc/self/fd/* | grep secret; echo end')
process.stdout.write(stdout)
await ws.close()
`

it.each(namespace === undefined ? ['scan'] : ['namespace', 'scan'])(
  'a command gets no descriptor that the process inherited: %s',
  (containment) => {
    const secret = join(base, 'secret')
    writeFileSync(secret, 'password\n')
    const node = [
      process.execPath,
      '--conditions=@helix-agents/source',
      '--input-type=module',
      '-e',
    ]
    // The shell keeps a descriptor open for Node, as a supervisor does.
    const output = execFileSync(
      'bash',
      [
        '-c',
        'exec 9<"$1" 3<"$1"; shift; exec "$@"',
        'bash',
        secret,
        ...node,
        SCRIPT,
        base,
        containment,
      ],
      { cwd: PACKAGE, encoding: 'utf8' },
    )
    expect(output).toBe('end\n')
  },
  120_000,
)
