// What takes more than one call of a workspace, or a callback that does not cross to a test.
import {
  type CodeOutput,
  decodeText,
  type RunCodeOptions,
  type RunCodeResult,
  type Workspace,
} from '@helix-agents/core/provider'

type Composed = (ws: Workspace, given: readonly unknown[]) => Promise<unknown>

export const composedCalls: Readonly<Record<string, Composed>> = {
  /** As the edit tool does it: `[path, old, new]`. */
  'fs.edit': async ({ fs }, [path, before, after]) => {
    const { version } = await fs!.stat(String(path))
    const text = decodeText(await fs!.readFile(String(path)))
    const edited = text.replace(String(before), String(after))
    return fs!.writeFile(String(path), edited, { ifVersion: version })
  },
  /** `[command]`: aborted as soon as it says something. */
  'shell.runAborted': async ({ shell }, [command]) => {
    const controller = new AbortController()
    return shell!.run(String(command), {
      signal: controller.signal,
      onStdout: async () => controller.abort(),
    })
  },
  /** `[command, options]`; the pieces in the order in which they came, with the result. */
  'shell.runLive': async ({ shell }, [command, options]) => {
    const pieces: string[] = []
    const take = async (chunk: Uint8Array): Promise<void> => void pieces.push(decodeText(chunk))
    const result = await shell!.run(String(command), {
      ...(options as object),
      onStdout: take,
      onStderr: take,
    })
    return { ...result, pieces }
  },
  /** `[language, source, in a context]`: writes `/heard` with each output that comes. */
  'code.runHeard': async ({ code, fs }, [language, source, inContext]) => {
    const seen: string[] = []
    const options: RunCodeOptions = {
      timeoutMs: 20_000,
      onOutput: async (output) => {
        seen.push(textOf(output))
        await fs!.writeFile('/heard', 'x')
      },
    }
    const run = async (): Promise<RunCodeResult> => {
      if (inContext !== true) return code!.runCode(String(language), String(source), options)
      const context = await code!.createContext!(String(language))
      return code!.runInContext!(context, String(source), options)
    }
    const { exitCode, outputs } = await run()
    return { exitCode, outputs: outputs.map(textOf), seen }
  },
}

function textOf(output: CodeOutput): string {
  return 'data' in output ? new TextDecoder().decode(output.data) : String(output.value)
}
