// What takes more than one call of a workspace, or a callback that does not cross to a test.
import { decodeText, type Workspace } from '@helix-agents/core'

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
}
