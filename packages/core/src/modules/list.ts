import type * as z from 'zod'
import { codeModule } from './code/module.ts'
import type { ModuleDefinition } from './define-module.ts'
import { fileSystemModule } from './fs/module.ts'
import { shellModule } from './shell/module.ts'
import { snapshotModule } from './snapshot/module.ts'

/** The one list of capability modules; every type below follows it. */
export const workspaceModules = {
  fs: fileSystemModule,
  shell: shellModule,
  code: codeModule,
  snapshot: snapshotModule,
} as const

type Modules = typeof workspaceModules
type SchemaOf<D> = D extends ModuleDefinition<string, infer _C, infer S> ? S : never

export type ModuleName = keyof Modules

/** What an agent declares: `true` for the defaults, an object for policy. */
export type CapabilitiesInput = {
  readonly [N in ModuleName]?: boolean | z.input<SchemaOf<Modules[N]>>
}

/** What was declared, with the defaults filled in; an absent key is not declared. */
export type Capabilities = {
  readonly [N in ModuleName]?: Readonly<z.output<SchemaOf<Modules[N]>>>
}
