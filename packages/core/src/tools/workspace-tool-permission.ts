import { FileSystemError } from '../errors/file-system-error.ts'
import type { ModuleTool } from '../modules/define-module.ts'
import type { FileSystem } from '../modules/fs/contract.ts'
import { statIfPresent } from '../modules/fs/edit/rewrite-file.ts'
import { normalizePath } from '../modules/fs/path/path.ts'
import { workspacePath } from '../modules/fs/path/workspace-path.ts'
import type { ModulePreview, PreviewBasis } from '../permissions/module-preview.ts'
import type { PermissionSubject, TouchedPath } from '../permissions/permission-rule.ts'
import { factsOfModuleTool } from '../permissions/tool-facts.ts'
import type { CallAccess, ToolPermission } from '../permissions/tool-permission.ts'
import type { OpenWorkspace } from '../registry/workspace-access.ts'
import { type DeclaredModule, guardedModule } from './declared-module.ts'
import { WorkspaceToolCall } from './workspace-tool-call.ts'

/** What rules and previews know of the calls of a capability tool. */
export class WorkspaceToolPermission implements ToolPermission {
  readonly facts: ReturnType<typeof factsOfModuleTool>
  readonly #module: DeclaredModule
  readonly #tool: ModuleTool<object, unknown>

  constructor(module: DeclaredModule, tool: ModuleTool<object, unknown>) {
    this.facts = factsOfModuleTool(module.workspace, tool)
    this.#module = module
    this.#tool = tool
  }

  subject(input: unknown): PermissionSubject | Promise<PermissionSubject> {
    const { name: toolName, shortName, workspace } = this.facts
    const command = this.#tool.command?.(input)
    const base = {
      toolName,
      shortName,
      workspace,
      ...(command !== undefined && { command: command.line }),
      ...(command?.variables !== undefined && { variables: command.variables }),
    }
    const paths = this.#tool.paths?.(input)
    if (paths === undefined) return base
    if (!(paths instanceof Promise)) return { ...base, paths: normalized(paths) }
    return paths.then((late) => ({ ...base, paths: normalized(late) }))
  }

  async resolve(subject: PermissionSubject, access: CallAccess): Promise<PermissionSubject> {
    const { paths } = subject
    if (paths === undefined || paths.length === 0) return subject
    const resolved = await this.#use(access, async ({ live }) => {
      const found: TouchedPath[] = []
      const context = { files: live.fs, shellRoot: live.shellRoot }
      for (const touched of paths) {
        access.abortSignal.throwIfAborted()
        const path = await workspacePath(touched.path, context)
        found.push(...(await reachedPaths(live.fs, { ...touched, path })))
      }
      return found
    })
    return { ...subject, paths: resolved }
  }

  async preview(input: unknown, access: CallAccess): Promise<ModulePreview | undefined> {
    if (this.#tool.preview === undefined) return undefined
    return this.#use(access, async (open) => {
      const { workspace, config } = this.#module
      const module = guardedModule(this.#module, open.live, access.workspaces)
      const call = new WorkspaceToolCall(workspace, open, access)
      return this.#tool.preview?.({ module, config, input, context: call })
    })
  }

  async basis(input: unknown, access: CallAccess): Promise<PreviewBasis | undefined> {
    const { paths = [] } = await this.subject(input)
    if (this.#tool.annotations.readOnly || paths.length === 0) return undefined
    return this.#use(access, async ({ live }) => {
      const { fs: files, shellRoot } = live
      if (files === undefined) return undefined
      const basis: [string, string | null][] = []
      for (const { path } of paths) {
        const named = await workspacePath(path, { files, shellRoot })
        basis.push([named, await fingerprintOf(files, named, access.abortSignal)])
      }
      return Object.fromEntries(basis)
    })
  }

  #use<T>(access: CallAccess, operation: (open: OpenWorkspace) => Promise<T>): Promise<T> {
    const { abortSignal: signal, workspaces } = access
    return workspaces.use(this.facts.workspace, operation, { idempotent: true, signal })
  }
}

/** A path that is none is left out: the call itself fails with it. */
function normalized(paths: readonly TouchedPath[]): readonly TouchedPath[] {
  return paths.flatMap((touched) => {
    try {
      return [{ ...touched, path: normalizePath(touched.path) }]
    } catch (error) {
      if (FileSystemError.isInstance(error)) return []
      throw error
    }
  })
}

/** The path as it is spelled and, through links, what it leads to. */
async function reachedPaths(
  fs: FileSystem | undefined,
  touched: TouchedPath,
): Promise<readonly TouchedPath[]> {
  if (fs === undefined) return [touched]
  const { path, keepsLink = false } = touched
  try {
    const real = (await fs.realPath?.(path, { followLast: !keepsLink })) ?? path
    const isTree = touched.isTree === true && (await isDirectory(fs, real))
    return [...new Set([path, real])].map((each) => ({ path: each, keepsLink, isTree }))
  } catch (error) {
    // It leads out of the workspace, or in a circle: the call itself fails with it.
    if (FileSystemError.isInstance(error)) return [touched]
    throw error
  }
}

/** Nothing lies below a file. */
async function isDirectory(fs: FileSystem, path: string): Promise<boolean> {
  return (await statIfPresent(fs, path))?.type === 'directory'
}

/** A path that cannot be read is part of the basis, too: the call fails while it is so. */
async function fingerprintOf(
  files: FileSystem,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    // Loaded when a person is first asked.
    const { fingerprint } = await import('../modules/fs/versions/fingerprint.ts')
    return await fingerprint(files, path, signal)
  } catch (error) {
    if (FileSystemError.isInstance(error)) return `error:${error.code}`
    throw error
  }
}
