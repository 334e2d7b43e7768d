/**
 * Parts of names that always mean a secret, without separators and in lower case. What was sent to
 * a model is none of the log's business: errors of model libraries carry it.
 */
const SECRET_NAME =
  /authorization|cookie|passwd|passwor|passphrase|secret|credential|apikey|privatekey|accesskey|accountkey|signingkey|encryptionkey|connectionstring|tokens?$|auth(?:header|key|code)$|requestbody/
/** Last words of names that mean a secret; inside of a longer word they mean something else. */
const SECRET_WORD =
  /^(?:(?:db|my|pg|ftp|ssh|smtp|mail|user|root|admin|redis|proxy)?(?:pass|pwd)|(?:basic|proxy|npm|http|user|db)?auth|jwt|dsn|otp|bearer)$/
/** A number under such a name is a password; under other names it counts something. */
const NUMERIC_SECRET = /passwd|passwor|passphrase|pwd$|secret$|^otp$/
/** The name of a field is no longer than this; the end of a longer one decides. */
const MAX_NAME = 128

/** Whether a field of this name holds a secret. */
export type IsSecretKey = (key: string) => boolean

/** Knows the usual names of secrets, however they are written, and those given. */
export function createIsSecretKey(secretKeys: readonly string[] = []): IsSecretKey {
  const own = new Set(secretKeys.map(plain))
  return (key) => isSecretName(key) || own.has(plain(key))
}

/** Whether a name is one of the usual names of secrets. */
export function isSecretName(key: string): boolean {
  return SECRET_NAME.test(plain(key)) || SECRET_WORD.test(lastWord(key))
}

/** Whether also a number under this name is a secret. */
export function isNumericSecret(key: string): boolean {
  return NUMERIC_SECRET.test(plain(key)) || lastWord(key) === 'pass'
}

/** Names of variables are worth knowing; their values are not for the log. */
export function isEnvironmentKey(key: string): boolean {
  return ENVIRONMENT.has(plain(key))
}

const ENVIRONMENT: ReadonlySet<string> = new Set(['env', 'environment', 'environmentvariables'])

function plain(key: string): string {
  return key
    .slice(-MAX_NAME)
    .replaceAll(/[^a-z0-9]/gi, '')
    .toLowerCase()
}

/** `dbPass`, `DB_PASS` and `db-pass` end with `pass`. */
function lastWord(key: string): string {
  const words = key
    .slice(-MAX_NAME)
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
  return (words.findLast((word) => word !== '') ?? '').toLowerCase()
}
