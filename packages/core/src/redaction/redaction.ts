import { Redactor } from './redactor.ts'
import { createIsSecretKey } from './secret-keys.ts'

/** Options of a redaction. */
export interface RedactOptions {
  /** Names of fields that are secret too; upper case, `_` and `-` make no difference. */
  readonly secretKeys?: readonly string[]
}

/** Copies values without their secrets. */
export interface Redaction {
  /** A copy of the fields of a log line, as JSON without secrets. Never throws. */
  readonly fields: (fields: object) => Record<string, unknown>
  /** A copy of any value; of an error with code, brand, fields and its whole chain of causes. */
  readonly value: (value: unknown) => unknown
}

/**
 * Makes values fit for a log, for a logger of your own. Secrets are recognised by the name of
 * their field (`authorization`, `apiKey`, `token`, `password`, `secret`, `cookie`, … at any depth),
 * all values below `env` are hidden, and credentials inside texts are replaced.
 */
export function createRedaction({ secretKeys }: RedactOptions = {}): Redaction {
  const isSecretKey = createIsSecretKey(secretKeys)
  const copy = (value: unknown): unknown => new Redactor(isSecretKey).value(value)
  return {
    value: copy,
    fields: (fields) => {
      const copied = copy(fields)
      return typeof copied === 'object' ? { ...copied } : { fields: copied }
    },
  }
}
