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
type Module = Modules[keyof Modules]
type ContractOf<D> = D extends ModuleDefinition<string, infer C, infer _S, infer _F> ? C : never
type SchemaOf<D> = D extends ModuleDefinition<string, infer _C, infer S, infer _F> ? S : never
type FlagOf<D> = D extends ModuleDefinition<string, infer _C, infer _S, infer F> ? F : never

/** Name of a capability module. */
export type ModuleName = keyof Modules

/** A module, or an optional part of one, such as `branch` of `snapshot`. */
export type CapabilityFlag = ModuleName | FlagOf<Module>

/** Which modules, and optional parts of modules, a provider offers. */
export type WorkspaceCapabilityFlags = { readonly [F in CapabilityFlag]?: boolean }

/** The modules of a live workspace; those that it does not have are absent. */
export type WorkspaceModules = { readonly [N in ModuleName]?: ContractOf<Modules[N]> }

/** What a provider tells the model of its modules, such as what its shell cannot do. */
export type ToolNotes = { readonly [N in ModuleName]?: string }

/** What an agent declares: `true` for the defaults, an object for policy. */
export type CapabilitiesInput = {
  readonly [N in ModuleName]?: boolean | z.input<SchemaOf<Modules[N]>>
}

/** What was declared, with the defaults filled in; an absent key is not declared. */
export type Capabilities = {
  readonly [N in ModuleName]?: Readonly<z.output<SchemaOf<Modules[N]>>>
}

/** A module with its types erased, for code that treats all modules alike. */
export type AnyModule = ModuleDefinition<ModuleName, object, z.ZodType, CapabilityFlag>

/** The modules in the order of the list. */
export const allModules = (): readonly AnyModule[] => Object.values<AnyModule>(workspaceModules)

/** Every flag that a provider or a ref may set. */
export const allCapabilityFlags = (): readonly CapabilityFlag[] => [
  ...allModules().map(({ name }) => name),
  ...allModules().flatMap(({ flags = [] }) => flags),
]
