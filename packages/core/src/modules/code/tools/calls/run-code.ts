import type { ModuleToolWork } from '../../../define-module.ts'
import { captureCodeRun, type CodeRun, liveRunOptions, renderCodeRun } from '../../code-run.ts'
import type { CodeConfig } from '../../config.ts'
import { contextsMissing } from '../../contexts-missing.ts'
import type { CodeContextId, CodeInterpreter } from '../../contract.ts'

type CodeWork<Input> = ModuleToolWork<CodeInterpreter, CodeConfig, Input, CodeRun>

export const runCodeWork: CodeWork<{ readonly language: string; readonly code: string }> = {
  execute: async ({ module, input, context }) =>
    captureCodeRun(await module.runCode(input.language, input.code, liveRunOptions(context))),
  toModelOutput: renderCodeRun,
}

export const runInContextWork: CodeWork<{
  readonly contextId: CodeContextId
  readonly code: string
}> = {
  execute: async ({ module, input, context }) => {
    if (module.runInContext === undefined) throw contextsMissing(context.workspace)
    const options = liveRunOptions(context)
    return captureCodeRun(await module.runInContext(input.contextId, input.code, options))
  },
  toModelOutput: renderCodeRun,
}
