// A container that answers scripts as a test says.
import { ManualClock } from '@helix-agents/core/testing'
import { ContainerLink } from '../../../src/driver/remote/container-link.ts'
import type { ScriptCall, ScriptOutput } from '../../../src/driver/remote/script-runner.ts'

interface Ran {
  readonly script: string
  readonly call: ScriptCall
}

type Answer = (ran: Ran, nonce: string) => ScriptOutput | Promise<ScriptOutput>

/** A link to a container, with what was run and stored there. */
export function linkTo(answer: Answer) {
  const clock = new ManualClock()
  const ran: Ran[] = []
  const stored: { readonly path: string; readonly text: string; readonly call: ScriptCall }[] = []
  let nonces = 0
  const link = new ContainerLink({
    clock,
    settings: { root: '/workspace', scratch: '/scratch' },
    createNonce: () => `${(nonces += 1)}`.padStart(4, '0'),
    runner: {
      run: async (script, call) => {
        ran.push({ script, call })
        return answer({ script, call }, /printf '\\n%%(\d{4}) /.exec(script)?.[1] ?? '')
      },
      store: async (path, data, call) => {
        stored.push({ path, text: await new Response(data).text(), call })
      },
      fetch: () => Promise.reject(new Error('not asked for')),
    },
  })
  return { clock, link, ran, stored }
}

/** What a script prints that ends with this line. */
export const said = (nonce: string, line: string, payload = ''): ScriptOutput => ({
  stdout: `${payload}\n%${nonce} ${line}\n`,
  stderr: '',
  exitCode: 0,
})
