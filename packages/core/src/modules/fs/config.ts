import * as z from 'zod'
import { isGlob } from './search/glob.ts'

/** One line of the path rules: the first whose pattern matches decides. */
const pathRuleSchema = z.strictObject({
  /** Glob over absolute workspace paths, such as `/secrets`; what lies below is covered too. */
  pattern: z
    .string()
    .startsWith('/')
    .refine((pattern) => isGlob(`${pattern}/**`), 'is not a valid glob pattern'),
  access: z.enum(['none', 'read', 'write']),
})

/** Policy of the `fs` capability. Unknown keys are rejected: a misspelt limit is no limit. */
export const fileSystemConfigSchema = z.strictObject({
  /** Largest file a call may create, in megabytes of 1,048,576 bytes. */
  maxFileSizeMb: z.number().positive().default(10),
  /** Larger files are not searched but reported as skipped. */
  maxGrepFileSizeMb: z.number().positive().default(10),
  /** Rejects every change. */
  readOnly: z.boolean().default(false),
  /** Adds `append_file`, `copy`, `move`, `multi_edit` and `apply_patch`. */
  extended: z.boolean().default(false),
  /** A file must have been read by this agent before it is replaced or edited. */
  requireReadBeforeWrite: z.boolean().default(false),
  /**
   * `{ pattern, access }` with `none`, `read` or `write`. A rule covers what its pattern matches and
   * everything below that; the first rule that covers a path decides. A path that no rule covers
   * has `write` access.
   */
  pathRules: z.array(pathRuleSchema).readonly().default([]),
})

/** Policy of `fs`, as an agent declares it. */
export type FileSystemConfigInput = z.input<typeof fileSystemConfigSchema>
/** The same with its defaults. */
export type FileSystemConfig = Readonly<z.output<typeof fileSystemConfigSchema>>
export type PathRule = FileSystemConfig['pathRules'][number]
