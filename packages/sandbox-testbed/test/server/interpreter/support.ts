import type { Fixture } from '../support/fixture.ts'

/** Everything that one run said, in order. */
export type Said = readonly (readonly [kind: string, value: unknown])[]

/** Runs code and collects what it says. */
export async function run(
  fixture: Fixture,
  contextId: string | undefined,
  code: string,
  options: { readonly language?: string; readonly timeoutMs?: number } = {},
): Promise<Said> {
  const said: [string, unknown][] = []
  const callbacks = {
    onStdout: ({ text }: { text: string }) => void said.push(['stdout', text]),
    onStderr: ({ text }: { text: string }) => void said.push(['stderr', text]),
    onResult: (result: unknown) => void said.push(['result', structuredClone(result)]),
    onError: (error: unknown) => void said.push(['error', structuredClone(error)]),
  }
  const { interpreter } = fixture.client.root
  await interpreter.runCodeStream(contextId, code, options.language, callbacks, options.timeoutMs)
  return said
}

/** The lines of the error that was said first. */
export function linesOf(said: Said): string {
  const [, error] = said[0] ?? []
  return (error as { traceback: string[] }).traceback.join('\n')
}
