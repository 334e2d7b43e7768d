import * as z from 'zod'
import { ToolInputError } from '../../errors/tool-input-error.ts'
import type { SnapshotRef } from './contract.ts'

/** No provider writes longer refs. */
const MAX_REF_CHARACTERS = 16_384
const HINT = 'Give the ref as the snapshot tool returned it, whole and unchanged.'

const snapshotRefSchema = () =>
  z.strictObject({
    providerId: z.string().min(1),
    ref: z.json(),
  })

/** The argument of `restore` and `branch`: what `snapshot` gave, as an object or as its JSON text. */
export const snapshotRefArgument = () =>
  z
    .union([z.string().max(MAX_REF_CHARACTERS), snapshotRefSchema()])
    .describe('The ref that the snapshot tool returned.')

/**
 * Reads a ref strictly; what is in it is checked by the provider.
 * @throws {ToolInputError} `invalid-input`.
 */
export function parseSnapshotRef(
  value: z.output<ReturnType<typeof snapshotRefArgument>>,
): SnapshotRef {
  const parsed = snapshotRefSchema().safeParse(typeof value === 'string' ? parseJson(value) : value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: ['ref', ...path].join('.'),
    message,
  }))
  throw new ToolInputError('invalid-input', 'That is not a snapshot ref.', { hint: HINT, issues })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ToolInputError('invalid-input', 'That is not a snapshot ref.', { hint: HINT, cause })
  }
}
