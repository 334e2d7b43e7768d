import * as z from 'zod'
import type { CodeContextId } from './contract.ts'

const isContextId = (value: unknown): value is CodeContextId =>
  typeof value === 'string' && value !== ''

/** Id of a context, as `create_code_context` gave it. */
export const codeContextIdSchema = z
  .string()
  .min(1)
  .pipe(z.custom<CodeContextId>(isContextId))
  .describe('Id that create_code_context gave.')
