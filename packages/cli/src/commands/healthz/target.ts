import type { CliHost } from '../../cli-host.ts'
import { CommandError } from '../../command-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { HealthTarget } from './probe.ts'

interface TargetFlags {
  readonly session?: string
  readonly tokenEnv?: string
  readonly timeout: number
}

/** @throws {CommandError} for an address or a token that cannot be used. */
export function parseTarget(text: string, flags: TargetFlags, env: CliHost['env']): HealthTarget {
  const url = parseUrl(text)
  if (flags.session !== undefined) {
    const start = url.pathname.replace(/\/+$/, '')
    url.pathname = `${start}/${encodeURIComponent(flags.session)}`
  }
  const token = parseToken(flags.tokenEnv, env)
  return {
    url,
    sessionId: flags.session ?? lastSegment(url),
    timeoutMs: flags.timeout,
    ...(token !== undefined && { token }),
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw usage('the address must start with http:// or https://')
  }
  if (url.username !== '' || url.password !== '') {
    throw usage('the address must not hold a password: use --token-env')
  }
  return url
}

function parseToken(name: string | undefined, env: CliHost['env']): string | undefined {
  if (name === undefined) return undefined
  const token = env[name]?.trim() ?? ''
  if (token === '') throw usage(`the environment variable ${name} of --token-env is not set`)
  // What a header cannot carry would be quoted in the error of the client.
  if (!/^[\x21-\x7e]+$/.test(token)) throw usage(`${name} of --token-env does not hold a token`)
  return token
}

function lastSegment({ pathname }: URL): string {
  const segment = pathname.split('/').findLast((part) => part !== '') ?? ''
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function usage(message: string): CommandError {
  return new CommandError(exitCodes.usage, message)
}
