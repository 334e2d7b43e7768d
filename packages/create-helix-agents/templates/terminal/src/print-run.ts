import type { AgentHandle } from '@helix-agents/sdk'

interface Output {
  write(text: string): unknown
}

/** Prints what a run says while it says it. @returns whether it completed. */
export async function printRun(handle: AgentHandle, output: Output): Promise<boolean> {
  for await (const chunk of handle.stream()) {
    if (chunk.type === 'text_delta') output.write(chunk.delta)
    if (chunk.type === 'tool_start') {
      const input = JSON.stringify(chunk.arguments)
      output.write(`· ${chunk.toolName.replace(/^workspace__/, '')} ${shorten(input)}\n`)
    }
    if (chunk.type === 'tool_end' && !chunk.success) output.write(`  ${chunk.error?.message}\n`)
  }
  const { status, error } = await handle.result()
  output.write(status === 'completed' ? '\n' : `\n${status}: ${error?.message ?? 'no reason'}\n`)
  return status === 'completed'
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 99)}…`
}
