import * as z from 'zod'
import { toolsFor } from '../../define-module.ts'
import type { ShellConfig } from '../config.ts'
import type { Shell } from '../contract.ts'

const offset = z.number().int().nonnegative().exactOptional()

export const processOutputTool = toolsFor<Shell, ShellConfig>()({
  name: 'process_output',
  description:
    'Read what a background process has printed, from the given byte offsets on. The result says where to read on.',
  inputSchema: () =>
    z.strictObject({
      id: z.string().min(1).describe('Id of the process.'),
      stdoutOffset: offset.describe('First byte of stdout to read. Default 0.'),
      stderrOffset: offset.describe('First byte of stderr to read. Default 0.'),
    }),
  annotations: { readOnly: true, destructive: false, idempotent: true },
  available: (config) => config.background,
  load: async () => (await import('./calls/process-output.ts')).processOutputWork,
})
