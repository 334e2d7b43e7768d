import * as z from 'zod'

/** Policy of the `snapshot` capability. */
export const snapshotConfigSchema = z.strictObject({
  /** Accept snapshots that other sessions took. */
  allowCrossSession: z.boolean().default(false),
})

export type SnapshotConfigInput = z.input<typeof snapshotConfigSchema>
export type SnapshotConfig = Readonly<z.output<typeof snapshotConfigSchema>>
