/**
 * Parts of names that always mean a secret, without separators and in lower case. What was sent to
 * a model is none of the log's business: errors of model libraries carry it.
 */
const SECRET_NAME =
  /authorization|cookie|passwd|passwor|passphrase|secret|credential|apikey|privatekey|accesskey|tokens?$|requestbody/

/** Whether a field of this name holds a secret. */
export type IsSecretKey = (key: string) => boolean

/** Knows the usual names of secrets, however they are written, and those given. */
export function createIsSecretKey(secretKeys: readonly string[] = []): IsSecretKey {
  const own = new Set(secretKeys.map(plain))
  return (key) => {
    const name = plain(key)
    return SECRET_NAME.test(name) || own.has(name)
  }
}

/** Names of variables are worth knowing; their values are not for the log. */
export function isEnvironmentKey(key: string): boolean {
  return ENVIRONMENT.has(plain(key))
}

const ENVIRONMENT: ReadonlySet<string> = new Set(['env', 'environment', 'environmentvariables'])

function plain(key: string): string {
  return key.replaceAll(/[^a-z0-9]/gi, '').toLowerCase()
}
