import type { DriverCodeOutput, ExecOutput } from '../../src/driver/port.ts'
import type { SandboxWorld } from './memory-world.ts'

/** What a driver returns of an output at most: the rest stays in the container. */
const MAX_OUTPUT_BYTES = 120_000

/** Commands and code on the double print what a driver would return of a flood, by what is in them. */
export function printFloods(world: SandboxWorld): void {
  world.onExec = (argv) => {
    const command = argv.join(' ')
    return { stdout: floodOf(command), stderr: floodOf(command.includes('>&2') ? 'zeros' : '') }
  }
  world.onOutput = () => ({
    stdout: new Uint8Array(MAX_OUTPUT_BYTES),
    stderr: new Uint8Array(MAX_OUTPUT_BYTES).fill(0xff),
  })
  world.onCode = outputsOf
}

function floodOf(command: string): ExecOutput {
  if (command === '') return { bytes: new Uint8Array(), totalBytes: 0 }
  const bytes = new TextEncoder()
    .encode(pieceOf(command).repeat(MAX_OUTPUT_BYTES))
    .slice(0, MAX_OUTPUT_BYTES)
  if (command.includes('377')) bytes.fill(0xff)
  return { bytes, totalBytes: 10 * 1_048_576, headBytes: MAX_OUTPUT_BYTES / 10 }
}

function pieceOf(command: string): string {
  if (command.includes('033')) return '\u001B[31mx\u001B[0m\r\n'
  if (command.includes('yes')) return 'y\n'
  return command.includes("tr '") ? 'a' : '\0'
}

function outputsOf(code: string): DriverCodeOutput[] {
  const [, kind = '', count = '0'] = /# (\w+) (\d+)$/.exec(code) ?? []
  const size = Number(count)
  if (kind === 'zeros') return [stdout(MAX_OUTPUT_BYTES)]
  if (kind === 'outputs') return Array.from({ length: size }, () => stdout(2))
  if (kind === 'display') {
    return [{ type: 'display', mime: 'text/html', data: new Uint8Array(size).fill(120) }]
  }
  if (kind === 'deep') return [{ type: 'result', value: nested(size) }]
  if (kind === 'wide') {
    const entries = Array.from({ length: size }, (_, i) => [String(i), i] as const)
    return [{ type: 'result', value: Object.fromEntries(entries) }]
  }
  return []
}

function stdout(bytes: number): DriverCodeOutput {
  return { type: 'stdout', data: new Uint8Array(bytes) }
}

function nested(depth: number): unknown {
  let value: unknown = []
  for (let i = 0; i < depth; i += 1) value = [value]
  return value
}
