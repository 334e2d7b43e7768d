import { executeScript, type JustBash } from './script/execute-script.ts'
import type { Script, ScriptEnd, ScriptHost, ScriptRunner } from './script/script.ts'

/** How long an aborted script may still take to return; what it then does reaches nothing. */
const GRACE_MS = 100
const KILLED = 137

/** Runs scripts in this thread, for runtimes that have no other. */
export class InIsolateRunner implements ScriptRunner {
  #justBash: Promise<JustBash> | undefined

  async run(script: Script, host: ScriptHost, signal: AbortSignal): Promise<ScriptEnd> {
    this.#justBash ??= import('just-bash')
    const justBash = await this.#justBash
    const ended = Promise.withResolvers<ScriptEnd>()
    const onAbort = (): void => {
      setTimeout(() => ended.resolve({ exitCode: KILLED }), GRACE_MS)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    try {
      const run = executeScript(justBash, script, { host, signal, isShared: true })
      return await Promise.race([run, ended.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  async close(): Promise<void> {}
}
