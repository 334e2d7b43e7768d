import type { Workspace } from '@helix-agents/core/provider'
import { shellBehaviours } from '@helix-agents/workspace-conformance'
import { createShellReference, type ShellReference } from './reference/shell.ts'
import { shellSaboteurs } from './saboteurs/shell.ts'
import { verifySuite } from './verify-suite.ts'

let reference: ShellReference | undefined

verifySuite<Workspace>('shell', shellBehaviours, {
  create: async () => {
    reference = createShellReference()
    return reference.workspace
  },
  dispose: async () => reference?.dispose(),
  saboteurs: shellSaboteurs,
})
