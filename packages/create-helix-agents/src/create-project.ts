import { resolve } from 'node:path'
import { CreateError } from './create-error.ts'
import { type LocalPackages, readLocalPackages } from './local-packages.ts'
import { findPackageManager, install, type PackageManager } from './package-manager.ts'
import { ProjectFolder, templateFiles } from './project-folder.ts'
import { projectManifest } from './project-manifest.ts'
import { checkName, workerName } from './project-name.ts'
import { findTemplate, type Template } from './templates.ts'

/** A project to make. */
export interface CreateProjectOptions {
  /** Where; made with its parents, or there and empty. Relative to the working directory. */
  readonly folder: string
  /** Name of the package. */
  readonly name: string
  /** Name of the template, such as `terminal`. */
  readonly template: string
  /** Folder with tarballs of the packages, in place of a registry. Default: the registry. */
  readonly packages?: string
  /** Whether its dependencies are installed. Default: true. */
  readonly install?: boolean
  /** Folder of the templates. Default: those of this package. */
  readonly templatesFolder?: string
  /** Environment of the install, which also names the package manager. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Stops it; what was made is removed. Default: none. */
  readonly signal?: AbortSignal
}

/** A project that was made. */
export interface CreatedProject {
  readonly name: string
  readonly template: string
  /** Absolute. */
  readonly folder: string
  readonly installed: boolean
  readonly packageManager: PackageManager['name']
}

/** The templates of this package. */
export const ownTemplates = resolve(import.meta.dirname, 'templates')

/**
 * Makes a project from a template and installs it. When that fails, nothing is left of it.
 * @throws {CreateError}
 */
export async function createProject(options: CreateProjectOptions): Promise<CreatedProject> {
  const { env = process.env, install: isInstalled = true } = options
  const signal = options.signal ?? new AbortController().signal
  const name = checkName(options.name)
  const template = findTemplate(options.templatesFolder ?? ownTemplates, options.template)
  const local =
    options.packages === undefined ? undefined : await readLocalPackages(options.packages)
  const manager = findPackageManager(env)
  const folder = new ProjectFolder(resolve(options.folder))
  try {
    stopIfAborted(signal)
    writeFiles(folder, template, { name, ...(local !== undefined && { local }) })
    const isOffline = local !== undefined
    if (isInstalled) await install({ folder: folder.path, manager, env, isOffline, signal })
    stopIfAborted(signal)
  } catch (error) {
    folder.remove()
    throw error
  }
  const { path } = folder
  const packageManager = manager.name
  return { name, template: template.name, folder: path, installed: isInstalled, packageManager }
}

function writeFiles(
  folder: ProjectFolder,
  template: Template,
  { name, local }: { readonly name: string; readonly local?: LocalPackages },
): void {
  for (const [path, content] of templateFiles(template.folder)) {
    if (path === 'package.json') folder.write(path, projectManifest(String(content), name, local))
    else folder.write(path, filled(String(content), name))
  }
}

/** Names stand in Markdown and in JSON; none has a character that means something there. */
function filled(text: string, name: string): string {
  return text.replaceAll('{{name}}', name).replaceAll('"my-worker"', `"${workerName(name)}"`)
}

function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new CreateError('interrupted', 'interrupted')
}
