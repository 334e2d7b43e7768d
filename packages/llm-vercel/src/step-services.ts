import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { AdapterSettings } from './adapter-options.ts'
import type { CallOptions } from './call-options.ts'
import type { WarningLog } from './warning-log.ts'

/** What a step needs of its adapter. */
export interface StepServices {
  readonly settings: AdapterSettings
  readonly warnings: WarningLog
  readonly optionsFor: (model: LanguageModelV4) => CallOptions
  /** Whether a call failed for files that are left out of its next attempt. */
  readonly leavesOut: (failure: unknown, model: LanguageModelV4) => boolean
}
