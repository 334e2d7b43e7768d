import * as z from 'zod'

/** Policy of the `shell` capability. */
export const shellConfigSchema = z.strictObject({
  /**
   * Names of the programs that may run, without arguments; a path counts only as it is written.
   * With it a command is one program and its arguments: no shell interprets it. Without it the
   * shell is a full shell.
   */
  allowedCommands: z
    .array(z.string().regex(/^\S+$/, 'name one program, without arguments'))
    .min(1)
    .readonly()
    .optional(),
  /** Adds background processes: `run` with `background`, `process_list`, `process_output`, `process_kill`. */
  background: z.boolean().default(false),
  /** Time of a command that asks for none. */
  timeoutMs: z.number().int().positive().default(120_000),
  /** The most a command may ask for. */
  maxTimeoutMs: z.number().int().positive().default(600_000),
})

/** Policy of `shell`, as an agent declares it. */
export type ShellConfigInput = z.input<typeof shellConfigSchema>
/** The same with its defaults. */
export type ShellConfig = Readonly<z.output<typeof shellConfigSchema>>
