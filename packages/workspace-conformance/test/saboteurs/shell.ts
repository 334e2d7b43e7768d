import { appendFileSync, chmodSync, cpSync, readFileSync, symlinkSync } from 'node:fs'
import type {
  FileSystem,
  RunResult,
  Shell,
  ShellCommand,
  ShellRunOptions,
  Workspace,
} from '@helix-agents/core/provider'
import { omit } from './omit.ts'

type Saboteur = (good: Workspace) => Workspace
type Run = Shell['run']

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const NOTHING = new Uint8Array()

const withShell =
  (change: (shell: Shell, ws: Workspace) => Partial<Shell>): Saboteur =>
  (good) => ({ ...good, shell: { ...good.shell!, ...change(good.shell!, good) } })

const withFiles =
  (change: (fs: FileSystem, ws: Workspace) => Partial<FileSystem>): Saboteur =>
  (good) => ({ ...good, fs: { ...good.fs!, ...change(good.fs!, good) } })

/** Changes the result of each run. */
const result = (
  change: (result: RunResult, command: ShellCommand, options: ShellRunOptions) => object,
): Saboteur =>
  withShell((good) => ({
    run: async (command, options = {}) => {
      const value = await good.run(command, options)
      return { ...value, ...change(value, command, options) }
    },
  }))

/** Changes what each run is given. */
const input = (
  change: (command: ShellCommand, options: ShellRunOptions) => Parameters<Run>,
): Saboteur =>
  withShell((good) => ({
    run: (command, options = {}) => good.run(...change(command, options)),
  }))

const line = (change: (text: string) => string): Saboteur =>
  input((command, options) => [typeof command === 'string' ? change(command) : command, options])

const words = (change: (argv: readonly string[]) => ShellCommand): Saboteur =>
  input((command, options) => [typeof command === 'string' ? command : change(command), options])

const without = (...names: readonly (keyof ShellRunOptions)[]): Saboteur =>
  input((command, options) => [command, omit(options, ...names)])

/** After such a command the shell is dead. */
const diesAfter = (pattern: RegExp): Saboteur =>
  withShell((good) => {
    let dead = false
    return {
      run: async (command, options) => {
        const value = await good.run(command, options)
        const wasDead = dead
        dead ||= pattern.test(String(command))
        return wasDead ? { ...value, stdout: NOTHING, exitCode: 1 } : value
      },
    }
  })

/** One shell for all commands. */
const keepsState = withShell((good) => {
  const before: string[] = []
  return {
    run: (command, options) => {
      const script = [...before, String(command)].join('\n')
      before.push(`{ ${String(command)}\n} >/dev/null 2>&1`)
      return good.run(script, options)
    },
  }
})

/** Something of an ended command lives on. Ends by itself with the directory. */
const heartGoesOn = withShell((good, ws) => ({
  run: async (command, options = {}) => {
    const value = await good.run(command, options)
    if (!value.timedOut && !options.signal?.aborted) return value
    let beats = 0
    const timer = setInterval(() => {
      beats += 1
      if (beats > 50) clearInterval(timer)
      else beat(ws)
    }, 20)
    timer.unref()
    return value
  },
}))

function beat(ws: Workspace): void {
  try {
    appendFileSync(`${ws.shellRoot}/beat`, 'x\n')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

const followsLinks = withFiles((_, ws) => ({
  readFile: async (path) => new Uint8Array(readFileSync(`${ws.shellRoot}${path}`)),
}))

const mixesOutputs = withShell((good) => {
  const all: Uint8Array[] = []
  return {
    run: async (command, options) => {
      const value = await good.run(command, options)
      all.push(value.stdout)
      return { ...value, stdout: encode(all.map(decode).join('')) }
    },
  }
})

export const shellSaboteurs: Readonly<Record<string, Saboteur>> = {
  'shell/run/output-and-exit-code': result(() => ({ exitCode: 0 })),
  'shell/run/success-is-zero': result(() => ({ timedOut: true })),
  'shell/run/a-signal-is-128-and-its-number': result((it) => ({
    exitCode: Math.min(it.exitCode, 1),
  })),
  'shell/run/an-unknown-command-is-127': result((it) => ({ exitCode: Math.min(it.exitCode, 1) })),
  'shell/run/output-is-bytes': result((it) => ({ stdout: encode(decode(it.stdout)) })),
  'shell/run/a-character-may-come-in-pieces': input((command, options) => [
    command,
    { ...options, onStdout: async (chunk) => options.onStdout?.(encode(decode(chunk))) },
  ]),
  'shell/run/stdin-is-closed': line((text) => `echo typed | { ${text}\n}`),
  'shell/run/a-line-may-be-a-script': line((text) => text.split('\n')[0]!),
  'shell/run/two-at-once-never-mix': mixesOutputs,
  'shell/argv/nothing-is-interpreted': words((argv) => argv.join(' ')),
  'shell/argv/every-word-arrives-whole': words((argv) => argv.map((it) => `"${it}"`).join(' ')),
  'shell/argv/has-exit-codes-too': result((it, command) =>
    typeof command === 'string' ? it : { exitCode: 0 },
  ),
  'shell/fresh/exit-ends-only-itself': diesAfter(/^exit/),
  'shell/fresh/exec-ends-only-itself': diesAfter(/^exec/),
  'shell/fresh/open-quotes-and-blocks-end': diesAfter(/open$/),
  'shell/fresh/an-open-here-document-ends': diesAfter(/<<EOF/),
  'shell/fresh/traps-and-options-end': diesAfter(/trap|set -eu/),
  'shell/fresh/killing-itself-is-contained': diesAfter(/kill/),
  'shell/fresh/the-exit-code-is-of-the-line': result(() => ({ exitCode: 0 })),
  'shell/fresh/cd-does-not-stay': keepsState,
  'shell/fresh/variables-and-functions-do-not-stay': keepsState,
  'shell/cwd/the-default-is-the-root': line((text) => `cd /; ${text}`),
  'shell/cwd/is-a-path-of-the-workspace': without('cwd'),
  'shell/cwd/outside-or-missing-is-rejected': without('cwd'),
  'shell/env/reaches-the-command-and-not-the-next': withShell((good) => {
    let env: Readonly<Record<string, string>> = {}
    return {
      run: (command, options = {}) => {
        env = { ...env, ...options.env }
        return good.run(command, { ...options, env })
      },
    }
  }),
  'shell/timeout/keeps-the-output-so-far': result((it) => (it.timedOut ? { stdout: NOTHING } : it)),
  'shell/timeout/ends-a-child-in-the-background': heartGoesOn,
  'shell/timeout/ends-a-grandchild-whose-parent-is-gone': heartGoesOn,
  'shell/timeout/ends-a-child-that-holds-the-output': heartGoesOn,
  'shell/timeout/ends-what-ignores-a-polite-signal': heartGoesOn,
  'shell/timeout/holds-for-argument-vectors': result(() => ({ exitCode: 137 })),
  'shell/timeout/a-fast-command-is-not-touched': result(() => ({ timedOut: true })),
  'shell/abort/ends-a-loop-and-keeps-the-output': heartGoesOn,
  'shell/abort/ends-the-tree-and-keeps-the-output': heartGoesOn,
  'shell/abort/before-the-start-runs-nothing': without('signal'),
  'shell/callbacks/see-every-byte-in-order': withShell((good) => ({
    run: (command, options = {}) => {
      const first = options.onStdout?.bind(options)
      return good.run(command, { ...options, onStdout: async () => first?.(encode('1\n')) })
    },
  })),
  'shell/callbacks/come-while-the-command-runs': input((command) => [command, { timeoutMs: 300 }]),
  'shell/callbacks/are-awaited-one-by-one': input((command, options) => [
    command,
    { ...options, onStdout: async (chunk) => void options.onStdout?.(chunk) },
  ]),
  'shell/callbacks/an-error-changes-no-exit-code': result((it) => ({
    exitCode: it.callbackErrors === undefined ? 0 : 1,
  })),
  'shell/callbacks/no-error-no-list': result(() => ({ callbackErrors: [new Error('none')] })),
  'shell/files/of-fs-are-seen-by-commands': withFiles((good) => ({
    writeFile: (path, data) => good.writeFile(`/elsewhere${path}`, data),
  })),
  'shell/files/of-commands-are-seen-by-fs': withFiles((good) => ({
    stat: async (path) => ({ ...(await good.stat(path)), version: 'same' }),
  })),
  'shell/output/a-long-one-keeps-head-and-tail': result((it) => ({
    stdoutCut: it.stdoutCut && { ...it.stdoutCut, totalBytes: it.stdout.length },
  })),
  'shell/output/stderr-is-cut-the-same-way': result(() => ({ stderrCut: undefined })),
  'shell/output/within-the-budget-is-whole': result((it) => ({ stdout: it.stdout.subarray(1) })),
  'shell/root/removed-from-inside-is-no-end': diesAfter(/rm -rf/),
  'shell/root/replaced-by-a-link-leads-nowhere': followsLinks,
  'shell/root/replaced-by-a-link-is-one-place-for-files-and-commands': withFiles(() => ({
    readFile: async () => encode('the words of another place'),
  })),
  'shell/links/are-made-or-an-error': line((text) => text.replace('; ln -s d link', '')),
  'shell/links/that-lead-out-are-rejected': followsLinks,
  'shell/links/inside-are-followed': withFiles((good) => ({
    ls: async (path) => (await good.ls(path)).map((entry) => ({ ...entry, type: 'file' })),
  })),
  'shell/links/a-copy-writes-as-a-write-does': withFiles((_, ws) => ({
    copy: async (from, to) => cpSync(`${ws.shellRoot}${from}`, `${ws.shellRoot}${to}`),
  })),
  'shell/links/have-a-real-path': withFiles((good) => ({
    realPath: async (path) => (await good.stat(path)).path,
  })),
  'shell/links/are-rejected-without-links': withFiles((good) => ({ withoutLinks: () => good })),
  'shell/links/path-rules-see-what-is-reached': withFiles((good) => ({
    realPath: async (path) => path,
    withoutLinks: () => good,
  })),
  'shell/links/path-rules-hold-for-copies-and-moves': withFiles((good) => ({
    realPath: async (path) => path,
    withoutLinks: () => good,
  })),
  'shell/attributes/are-read-and-set': withFiles((good) => ({
    attributes: { ...good.attributes, writeModes: async () => {} },
  })),
  'shell/attributes/follow-no-link': withFiles((good, ws) => ({
    attributes: {
      ...good.attributes,
      writeModes: async (modes) => {
        for (const { path, mode } of modes) chmodSync(`${ws.shellRoot}${path}`, mode)
      },
    },
  })),
  'shell/attributes/a-link-replaces-nothing-and-leads-nowhere-else': withFiles((good, ws) => ({
    attributes: {
      ...good.attributes,
      makeLink: async (path, target) => symlinkSync(target, `${ws.shellRoot}${path}`),
    },
  })),
  'shell/background/outlives-the-call': withShell((good) => ({
    start: async (command) => ({ ...(await good.start!(command)), state: 'exited' }),
  })),
  'shell/background/an-ended-one-has-its-exit-code': withShell((good) => ({
    output: async (id) => {
      const value = await good.output!(id)
      return { ...value, process: { ...value.process, exitCode: 0 } }
    },
  })),
  'shell/background/output-is-read-on-from-an-offset': withShell((good) => ({
    output: (id) => good.output!(id),
  })),
  'shell/background/kill-ends-the-tree': withShell(() => ({ kill: async () => {} })),
  'shell/background/an-unknown-id-is-rejected': withShell(() => ({ kill: async () => {} })),
  'shell/background/is-offered-whole-or-not-at-all': (good) => ({
    ...good,
    shell: omit(good.shell!, 'kill'),
  }),
}
