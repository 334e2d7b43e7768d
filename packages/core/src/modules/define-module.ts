import type * as z from 'zod'
import { renderForModel } from '../agent/render-for-model.ts'
import type { Clock } from '../time/clock.ts'
import type { ModelOutput, ToolAnnotations } from '../tools/model-output.ts'
import type { OfferedCapabilities, WorkspaceRef } from '../workspace/ref.ts'
import type { ModulePreview } from '../permissions/module-preview.ts'
import type { TouchedPath } from '../permissions/permission-rule.ts'
import type { FileSystem } from './fs/contract.ts'
import type { FileVersions } from './fs/versions/file-versions.ts'

/** A rejection by policy, for the audit log. */
export interface PolicyRejection {
  /** Fixed text from `logMessages`. */
  readonly message: string
  /** Code of the `PolicyError`. */
  readonly code: string
  /** First token and matched character: with the workspace name the key of deduplication. */
  readonly key: string
  readonly fields: object
}

/** What a policy may use besides the module it guards. */
export interface PolicyContext {
  readonly workspace: string
  /** Records a rejection: one audited, rate-limited warning and a metric. */
  audit(rejection: PolicyRejection): void
}

/** What a capability tool may use besides its module. */
export interface ModuleToolContext {
  readonly workspace: string
  /** The files without policy, if there are any: only to store what the agent did not ask for. */
  readonly files: FileSystem | undefined
  /** The directory that the shell sees as the workspace root. */
  readonly shellRoot: string | undefined
  /** What the agents of the session have read and written in this workspace. */
  readonly ledger: FileVersions
  /** Who calls: names the writer in stale-write errors. */
  readonly actor: string
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Live output for the stream. */
  progress(output: 'stdout' | 'stderr', chunk: Uint8Array): void
  /** Makes the session use another workspace from now on, durably. */
  switchTo(ref: WorkspaceRef): Promise<void>
}

export interface ModuleToolCall<Contract, Config, Input> {
  /** The live module behind its policy. */
  readonly module: Contract
  readonly config: Config
  readonly input: Input
  readonly context: ModuleToolContext
}

/** A command line that a call runs. */
export interface TouchedCommand {
  readonly line: string
  /** Environment variables that the call sets for it. */
  readonly variables?: readonly string[]
}

/**
 * A tool whose input and output types are erased, so that different tools share one list.
 * Methods, not function properties: their parameters compare both ways.
 */
export interface ModuleTool<Contract, Config> {
  /** Snake case, without the workspace prefix. */
  readonly name: string
  /** What the model reads of it; a function where that depends on the policy. */
  readonly description: string | ((config: Config) => string)
  readonly inputSchema: z.ZodType
  readonly annotations: ToolAnnotations
  /** Leaves the tool out when the policy or the provider has no use for it. */
  available(config: Config, offered: OfferedCapabilities): boolean
  /** The command that a call runs. Default: none. */
  command?(input: unknown): TouchedCommand
  /** The paths that a call names, as it spells them. Default: none. */
  paths?(input: unknown): readonly TouchedPath[] | Promise<readonly TouchedPath[]>
  /** What a person sees before the call runs. Changes nothing. Default: the arguments. */
  preview?(call: ModuleToolCall<Contract, Config, unknown>): Promise<ModulePreview>
  execute(call: ModuleToolCall<Contract, Config, unknown>): Promise<unknown>
  /** The result as the model reads it. */
  toModelOutput(output: unknown): ModelOutput
}

/** One capability: its name, its policy and its tools. Each has a folder and a line in `list.ts`. */
export interface ModuleDefinition<
  Name extends string,
  Contract,
  Schema extends z.ZodType,
  Flag extends string = never,
> {
  /** Key of the module in a workspace and in the declared capabilities. */
  readonly name: Name
  /** Flags of optional parts of the contract, which a provider may offer beside the module. */
  readonly flags?: readonly Flag[]
  readonly configSchema: Schema
  /** Methods that change no file. Every other one counts as a change for the history. */
  readonly reads?: readonly string[]
  /** Wraps the live module in its policy, so that no provider and no tool can forget it. */
  guard(module: Contract, config: z.output<Schema>, context: PolicyContext): Contract
  readonly tools: readonly ModuleTool<Contract, z.output<Schema>>[]
}

/** What a tool does when it is called. */
export interface ModuleToolWork<Contract, Config, Input, Output> {
  readonly execute: (call: ModuleToolCall<Contract, Config, Input>) => Promise<Output>
  readonly toModelOutput: (output: Output) => ModelOutput
}

/** What is known of a tool before it is called. */
export interface ModuleToolFace<Contract, Config, Input extends z.ZodType> {
  readonly name: string
  readonly description: string | ((config: Config) => string)
  /** Built at the first call: most processes use few of the tools they import. */
  readonly inputSchema: () => Input
  readonly annotations: ToolAnnotations
  readonly available?: (config: Config, offered: OfferedCapabilities) => boolean
  readonly command?: (input: z.output<Input>) => TouchedCommand
  readonly paths?: (
    input: z.output<Input>,
  ) => readonly TouchedPath[] | Promise<readonly TouchedPath[]>
  readonly preview?: (
    call: ModuleToolCall<Contract, Config, z.output<Input>>,
  ) => Promise<ModulePreview>
}

/** A tool as its file writes it, with the types of its input and output. */
export type ModuleToolSpec<Contract, Config, Input extends z.ZodType, Output> = ModuleToolFace<
  Contract,
  Config,
  Input
> &
  (
    | ModuleToolWork<Contract, Config, z.output<Input>, Output>
    /** Its work is in a file of its own, which the first call loads. */
    | { readonly load: () => Promise<ModuleToolWork<Contract, Config, z.output<Input>, Output>> }
  )

/** Binds contract and config once; each tool file then infers its own input and output. */
export function toolsFor<Contract, Config>(): <Input extends z.ZodType, Output>(
  spec: ModuleToolSpec<Contract, Config, Input, Output>,
) => ModuleTool<Contract, Config> {
  // The caller parses the input with `inputSchema`, and hands `execute`'s own result back.
  return (spec) => {
    let schema: z.ZodType | undefined
    return {
      available: () => true,
      ...spec,
      ...('load' in spec ? atFirstCall(spec.load) : spec),
      get inputSchema() {
        return (schema ??= spec.inputSchema())
      },
    }
  }
}

function atFirstCall<Contract, Config, Input, Output>(
  load: () => Promise<ModuleToolWork<Contract, Config, Input, Output>>,
): ModuleToolWork<Contract, Config, Input, Output> {
  let work: ModuleToolWork<Contract, Config, Input, Output> | undefined
  return {
    execute: async (call) => {
      work ??= await load()
      return work.execute(call)
    },
    // Of a call in another process only its JSON is known.
    toModelOutput: (output) => work?.toModelOutput(output) ?? renderForModel(output),
  }
}
