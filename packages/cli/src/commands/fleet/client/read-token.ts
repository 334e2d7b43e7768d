import { readFile } from 'node:fs/promises'
import type { CliHost } from '../../../cli-host.ts'
import { CommandError } from '../../../command-error.ts'
import { exitCodes } from '../../../exit-codes.ts'

const STDIN = '-'

/**
 * The token of the operator, from a file, from stdin, or from the environment: never from the
 * command line, which every user of the machine can read. None: the server may not want one.
 * @throws {CommandError} whose message does not contain the token.
 */
export async function readToken(
  host: CliHost,
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return parse(host.env.HELIX_FLEET_TOKEN ?? '', '$HELIX_FLEET_TOKEN')
  const text = file === STDIN ? await host.stdin.readAll() : await readText(file)
  const token = parse(text, '--token-file')
  if (token === undefined) throw usage('--token-file holds no token')
  return token
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw usage(`--token-file cannot be read: ${reason}`)
  }
}

function parse(text: string, source: string): string | undefined {
  const token = text.trim()
  if (token === '') return undefined
  // What a header cannot carry would be quoted in the error of the client.
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage(`${source} does not hold a token`)
  return token
}

function usage(message: string): CommandError {
  return new CommandError(exitCodes.usage, message)
}
