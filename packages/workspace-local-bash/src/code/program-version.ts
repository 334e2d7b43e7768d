import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The oldest version of a program that will do. */
export interface LeastVersion {
  readonly version: readonly [major: number, minor: number]
  /** Make the program print `major.minor`. */
  readonly words: readonly string[]
}

const TIMEOUT_MS = 10_000
const run = promisify(execFile)
/** One question for each program and process. */
const asked = new Map<string, Promise<string>>()

/** What is wrong with the version of a program. Undefined: nothing, or it says none. */
export async function findTooOld(
  file: string,
  { version: [major, minor], words }: LeastVersion,
): Promise<{ readonly found: string; readonly least: string } | undefined> {
  const question = asked.get(file) ?? ask(file, words)
  asked.set(file, question)
  const found = /^(\d+)\.(\d+)/.exec(await question)
  if (found === null) return undefined
  const [text = '', ofMajor, ofMinor] = found
  const isLess = Number(ofMajor) < major || (Number(ofMajor) === major && Number(ofMinor) < minor)
  return isLess ? { found: text, least: `${major}.${minor}` } : undefined
}

/** Far from the files of any workspace. A program that does not answer is met by its first run. */
async function ask(file: string, words: readonly string[]): Promise<string> {
  const [answer] = await Promise.allSettled([
    run(file, words, { cwd: '/', env: {}, timeout: TIMEOUT_MS, maxBuffer: 1024 }),
  ])
  return answer.status === 'fulfilled' ? answer.value.stdout.trim() : ''
}
