// How a namespace is looked for, with programs in the place of those that make one.
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findNamespace, type NamespaceHost } from '../../../src/shell/namespace/namespace.ts'
import { useDirectory } from '../../snapshots/store/store-fixture.ts'

const directory = useDirectory()
const OWN = readlinkSync('/proc/self/ns/pid')
const limit = (max: number): string => `limit-to ${max}`
const otherLimit = (max: number): string => `other ${max}`
const nowhere = (name: string): string => `/no/such/${name}`
const allButSetpriv = (name: string) => (name === 'setpriv' ? undefined : `/bin/${name}`)
/** What is printed where all is as it has to be. */
const SAYS_ALL = 'printf "pid:[1]\\n1\\n2048\\n"'

/** A host on which `unshare` is a script, which notes what it is given. */
function hostOf(script: string, more: Partial<NamespaceHost> = {}): NamespaceHost {
  const unshare = join(directory(), 'unshare')
  const words = join(directory(), 'noted')
  const note = `printf '%s ' "$@" >> ${words}; echo '|' >> ${words}`
  writeFileSync(unshare, `#!/bin/sh\n${note}\n${script}\n`, { mode: 0o755 })
  const programs = new Map([
    ['unshare', unshare],
    ['sh', '/bin/the-shell'],
    ['setpriv', '/bin/setpriv'],
  ])
  return { isRoot: false, limits: [], find: (name) => programs.get(name), ...more }
}
/** Each time that the script was started: its words. */
function noted(): readonly string[] {
  const path = join(directory(), 'noted')
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8').split(' |\n').slice(0, -1)
}
const reasonOf = async (script: string, more: Partial<NamespaceHost> = {}) =>
  (await findNamespace(hostOf(script, more))).reason

describe('no namespace is found', () => {
  it.each(['unshare', 'sh'])('without the program %s', async (missing) => {
    const host = hostOf(SAYS_ALL)
    const find = (name: string) => (name === missing ? undefined : host.find(name))
    expect(await findNamespace({ ...host, find })).toEqual({
      reason: 'the program unshare is not installed',
    })
    expect(noted()).toEqual([])
  })
  it('by root without setpriv', async () => {
    expect(await reasonOf(SAYS_ALL, { isRoot: true, find: allButSetpriv })).toBe(
      'no way to make one is known',
    )
  })
  it.each([
    ['echo first >&2; printf "not permitted \\n\\n" >&2', 'not permitted'],
    ['printf "%0300d" 7 >&2', '0'.repeat(200)],
    ['', 'it did not start'],
    ['echo; echo odd >&2', 'odd'],
    // It is tried with the programs of the system.
    ['echo "$HELIX_WS_0_" >&2', '/usr/bin:/bin'],
  ])('for a reason that is said last: %s', async (script, reason) => {
    expect(await reasonOf(script)).toBe(reason)
  })
  it('when the program cannot be started', async () => {
    expect(await reasonOf(SAYS_ALL, { find: nowhere })).toBe('spawn /no/such/unshare ENOENT')
  })
  it.each([`echo "${OWN}"; echo 1`, 'echo "pid:[1]"; echo 7', 'echo "pid:[1]"'])(
    'that hides the host: %s',
    async (script) => {
      expect(await reasonOf(script)).toBe('the namespace shows processes of the host')
    },
  )
})

const OWN_PROCESSES = '--pid --fork --kill-child --mount-proc --'
const LOST = '-sys_admin,-sys_ptrace,-sys_module,-sys_rawio,-sys_boot'
const dropping = (lost: string): string =>
  `/bin/setpriv --bounding-set ${lost} --inh-caps ${lost} -- /bin/the-shell -c`

describe('ways to make one', () => {
  it('are a namespace of users for a normal user', async () => {
    const { namespace } = await findNamespace(hostOf(SAYS_ALL))
    const [words = '', ...others] = noted()
    expect(others).toEqual([])
    const start = `--user --map-current-user ${OWN_PROCESSES} /bin/the-shell -c `
    expect(words.slice(0, start.length)).toBe(start)
    expect(words).toMatch(/ init \/bin\/sh -c readlink \/proc\/self\/ns\/pid; /)
    expect(namespace?.limit).toBeUndefined()
    const wrapped = namespace?.wrap(['a', 'b'], { A: '1', HELIX_WS_PROCESS: 'm' }, 7)
    expect(wrapped).toEqual({
      file: join(directory(), 'unshare'),
      args: [
        ...start.trim().split(' '),
        expect.stringMatching(/^printf.*\nexport A="\$HELIX_WS_0_".*\n\(exec/),
        'init',
        'a',
        'b',
      ],
      env: { HELIX_WS_0_: '1', HELIX_WS_PROCESS: 'm' },
    })
  })
  it('are four for root, which gives rights away in each', async () => {
    await findNamespace(hostOf('', { isRoot: true }))
    const all = `${LOST},-bpf,-perfmon,-checkpoint_restore`
    const user = '--user --map-root-user '
    const starts = [all, LOST].map((lost) => `${OWN_PROCESSES} ${dropping(lost)}`)
    const expected = [...starts, ...starts.map((start) => user + start)]
    const found = noted().map((words, at) => words.slice(0, expected[at]?.length))
    expect(found).toEqual(expected)
  })
  it('are tried with each limit, and then without one', async () => {
    await findNamespace(hostOf('', { limits: [limit, otherLimit] }))
    const lines = noted().map((words) => /(limit-to|other) \d+/.exec(words)?.[0])
    expect(lines).toEqual(['limit-to 2048', 'other 2048', undefined])
  })
})

describe('a limit', () => {
  it('that is in force is one of the namespace', async () => {
    const { namespace } = await findNamespace(hostOf(SAYS_ALL, { limits: [limit] }))
    expect(namespace?.limit).toBe(limit)
    expect(noted()).toHaveLength(1)
    expect(namespace?.wrap(['a'], {}, 7).args.join(' ')).toContain('\nlimit-to 7\n')
  })
  it('that is not is left out', async () => {
    mkdirSync(join(directory(), 'd'))
    const script = 'printf "pid:[1]\\n1\\n32768\\n"'
    const { namespace, reason } = await findNamespace(hostOf(script, { limits: [limit] }))
    expect([namespace?.limit, reason, noted().length]).toEqual([undefined, undefined, 2])
    expect(namespace?.wrap(['a'], {}, 7).args.join(' ')).not.toContain('limit-to')
  })
  it('that is not, where nothing works without it either, is the reason before', async () => {
    const script = 'case "$*" in *limit-to*) printf "pid:[1]\\n1\\n";; *) echo last >&2;; esac'
    expect(await reasonOf(script, { limits: [limit] })).toBe('last')
    const other = 'case "$*" in *limit-to*) echo first >&2;; *) printf "pid:[1]\\n2\\n";; esac'
    expect(await reasonOf(other, { limits: [limit] })).toBe(
      'the namespace shows processes of the host',
    )
  })
})
