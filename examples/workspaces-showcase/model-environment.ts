import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What `modelFromEnvironment` reads. */
const names = [
  'MODEL',
  'MODEL_BASE_URL',
  'MODEL_API_KEY',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'AI_GATEWAY_API_KEY',
] as const

/** Those that are set, for a Worker, which has an environment of its own. */
export function modelVariables(): Record<string, string> {
  const set = names.flatMap((name) => {
    const value = process.env[name]
    return process.env.MODEL === undefined || value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(set)
}

/** The same in a file: what stands in the arguments of a process is read by everybody on the machine. */
export function environmentFile(folder: string): string {
  const path = join(folder, 'model.env')
  const lines = Object.entries(modelVariables()).map(
    ([name, value]) => `${name}=${JSON.stringify(value)}\n`,
  )
  writeFileSync(path, lines.join(''), { mode: 0o600 })
  return path
}
