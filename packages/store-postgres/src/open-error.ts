import { StateStoreError } from '@helix-agents/core'
import { SqlError, type SqlErrorKind, toStateStoreError } from '@helix-agents/store-sql'

interface Explanation {
  readonly detail: string
  readonly hint: string
}

/** By SQLSTATE: what a server says of a wrong URL, user or database. */
const EXPLANATIONS: ReadonlyMap<string, Explanation> = new Map(
  Object.entries<Explanation>({
    '3D000': {
      detail: 'there is no such database',
      hint: 'Make it with CREATE DATABASE, or correct the name in the URL.',
    },
    '28P01': {
      detail: 'the user or the password is wrong',
      hint: 'Correct the URL. The password of a URL is percent-encoded.',
    },
    '28000': {
      detail: 'the server does not let this user in',
      hint: 'Check the name of the user, pg_hba.conf and whether the server wants TLS.',
    },
    '42501': {
      detail: 'the user may not make or use the tables',
      hint: 'Let the owner of the tables open the stores once, or grant CREATE on the schema.',
    },
  }),
)

/** By Node, when it checks the certificate of a server. */
const CERTIFICATE = /^(ERR_TLS_CERT|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/

const UNTRUSTED: Explanation = {
  detail: 'the certificate of the server is not trusted',
  hint: 'Name the certificate of its authority: sslrootcert in the URL, or ca in the option tls.',
}

const NO_FILE: Explanation = {
  detail: 'a file that the URL names cannot be read',
  hint: 'Correct sslrootcert, sslcert or sslkey in the URL.',
}

/** Tables with our names and other columns, types, or no version. */
const FOREIGN = new Set(['42P07', '42703', '42804', '42883', '22P02'])

/** What opening a database throws. It names the database, without the password. */
export function toOpenError(error: unknown, url: string): unknown {
  const known = explain(error)
  if (!StateStoreError.isInstance(known)) return known
  const { code, message, hint, cause } = known
  return new StateStoreError(code, '', `${placeOf(url)}: ${message}`, {
    ...(cause !== undefined && { cause }),
    ...(hint !== undefined && { hint }),
  })
}

function explain(error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const code = codeOf(error)
  if (FOREIGN.has(code)) {
    return new StateStoreError('schema-version', '', 'another program made tables of our names', {
      cause: error,
      hint: 'Use another database, or another schema: add ?options=-c%20search_path%3Dhelix to the URL.',
    })
  }
  const known = explanationOf(error)
  if (known === undefined) return toStateStoreError(error, '')
  return new StateStoreError('unavailable', '', known.detail, { cause: error, hint: known.hint })
}

function explanationOf(error: SqlError): Explanation | undefined {
  const code = codeOf(error)
  if (CERTIFICATE.test(code)) return UNTRUSTED
  const { cause } = error
  if (cause instanceof Error && 'syscall' in cause && cause.syscall === 'open') return NO_FILE
  return EXPLANATIONS.get(code) ?? EXPLANATIONS.get(fallback.get(error.kind) ?? '')
}

/** What `pg` says itself has no code. */
const fallback: ReadonlyMap<SqlErrorKind, string> = new Map([['denied', '28P01']])

function codeOf({ cause }: SqlError): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** A database by its URL, as it may stand in a log. */
function placeOf(url: string): string {
  const { host, pathname, searchParams } = new URL(url)
  return `${decodeURIComponent(host || (searchParams.get('host') ?? 'localhost'))}${pathname}`
}

/**
 * Checks what is given as the address of a database.
 * @throws {TypeError} for what is none, such as a variable that is not set.
 */
export function parseUrl(url: string): string {
  if (
    typeof url === 'string' &&
    URL.canParse(url) &&
    /^postgres(ql)?:$/.test(new URL(url).protocol)
  ) {
    return url
  }
  const given =
    typeof url === 'string' ? (url === '' ? 'an empty string' : 'another text') : typeof url
  throw new TypeError(
    `database URL must be postgresql://user:password@host:5432/database, got ${given}`,
  )
}
