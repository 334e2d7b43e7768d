import * as z from 'zod'

/** Policy of the `code` capability. */
export const codeConfigSchema = z.strictObject({
  /** Languages that may run. Absent: all that the interpreter offers. */
  languages: z.array(z.string().min(1)).min(1).readonly().optional(),
  /** Keeps variables between runs: adds the context tools. */
  isStateful: z.boolean().default(false),
  /** Time of a run. */
  timeoutMs: z.number().int().positive().default(120_000),
})

/** Policy of `code`, as an agent declares it. */
export type CodeConfigInput = z.input<typeof codeConfigSchema>
/** The same with its defaults. */
export type CodeConfig = Readonly<z.output<typeof codeConfigSchema>>
