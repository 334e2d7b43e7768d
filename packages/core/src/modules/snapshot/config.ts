import * as z from 'zod'

/** Policy of the `snapshot` capability. */
export const snapshotConfigSchema = z.strictObject({
  /** Accept snapshots that other sessions took. */
  allowCrossSession: z.boolean().default(false),
})

/** Policy of `snapshot`, as an agent declares it. */
export type SnapshotConfigInput = z.input<typeof snapshotConfigSchema>
/** The same with its defaults. */
export type SnapshotConfig = Readonly<z.output<typeof snapshotConfigSchema>>
