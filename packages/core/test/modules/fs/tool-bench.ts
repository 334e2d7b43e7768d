// What the tools load at their first use: a bound is about the work, not about loading.
import '../../../src/modules/fs/edit/edit.ts'
import '../../../src/modules/fs/patch/plan-patch.ts'
import { HelixError } from '../../../src/errors/helix-error.ts'
import type { ModuleToolContext, PolicyRejection } from '../../../src/modules/define-module.ts'
import {
  type FileSystemConfigInput,
  fileSystemConfigSchema,
} from '../../../src/modules/fs/config.ts'
import type { FileSystem } from '../../../src/modules/fs/contract.ts'
import { FileVersions } from '../../../src/modules/fs/versions/file-versions.ts'
import { fileSystemModule } from '../../../src/modules/fs/module.ts'
import type { ModulePreview } from '../../../src/permissions/module-preview.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { MapFileSystem } from './map-file-system.ts'

/** The tools of the module over a file system in a map, called as the runtime calls them. */
export class ToolBench {
  readonly fs: MapFileSystem
  readonly audited: PolicyRejection[] = []
  readonly config
  ledger = new FileVersions()
  shellRoot: string | undefined
  signal = new AbortController().signal

  constructor(config: FileSystemConfigInput = {}, fs = new MapFileSystem()) {
    this.fs = fs
    this.config = fileSystemConfigSchema.parse(config)
  }

  /** Made for each call: tests replace methods of the file system between calls. */
  get guarded(): FileSystem {
    const audit = (rejection: PolicyRejection) => this.audited.push(rejection)
    return fileSystemModule.guard(this.fs, this.config, { workspace: 'box', audit })
  }

  tools() {
    const flags = { fs: true }
    return fileSystemModule.tools.filter((tool) => tool.available(this.config, flags as never))
  }

  description({ description }: ReturnType<ToolBench['tools']>[number]): string {
    return typeof description === 'string' ? description : description(this.config)
  }

  tool(name: string) {
    const found = this.tools().filter((tool) => tool.name === name)
    if (found.length !== 1) throw new Error(`${found.length} tools are named ${name}`)
    return found[0]!
  }

  /** The structured result. */
  async call<Output = unknown>(name: string, input: object, actor = 'main'): Promise<Output> {
    const { tool, call } = this.#prepare(name, input, actor)
    return (await tool.execute(call)) as Output
  }

  /** What a person sees before the call. */
  async preview(name: string, input: object): Promise<ModulePreview | undefined> {
    const { tool, call } = this.#prepare(name, input, 'main')
    return tool.preview?.(call)
  }

  #prepare(name: string, input: object, actor: string) {
    const tool = this.tool(name)
    const context = {
      workspace: 'box',
      files: this.fs,
      shellRoot: this.shellRoot,
      ledger: this.ledger,
      actor,
      signal: this.signal,
      clock: new ManualClock(),
    } as unknown as ModuleToolContext
    const parsed = tool.inputSchema.parse(input)
    return { tool, call: { module: this.guarded, config: this.config, input: parsed, context } }
  }

  /** The result as the model reads it. */
  async show(name: string, input: object, actor?: string): Promise<string> {
    return this.tool(name).toModelOutput(await this.call(name, input, actor)) as string
  }

  /** The code of the error, or `ok`. */
  async code(name: string, input: object, actor?: string): Promise<string> {
    return codeOf(this.call(name, input, actor))
  }
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return 'ok'
  if (HelixError.isInstance(error)) return error.code
  throw error
}
