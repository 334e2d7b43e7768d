import { assertText, shownArgument } from '../executor/check-arguments.ts'
import type { DiffOptions } from '../history/diff.ts'
import type { ImportSessionOptions } from '../history/import/import-session.ts'
import type { MoveOptions } from '../history/move-workspace.ts'
import type { ReadFilesOptions } from '../history/read-files.ts'
import type { BranchOptions, RestoreCheckpointOptions } from '../executor/executor-options.ts'

// Programs without types, and values from a request, reach the executor too. What it cannot use is a
// TypeError that names the option, before anything is loaded or made.

/** @throws {TypeError} */
export function assertBranchOptions(options: BranchOptions): void {
  assertObject(options, 'options of branch', '{ fromSessionId }')
  assertText(options.fromSessionId, 'fromSessionId')
  assertOptionalText(options.checkpointId, 'checkpointId')
  assertOptionalText(options.sessionId, 'sessionId')
  assertOneOf(options.files, 'files', ['checkpoint'])
  assertOneOf(options.seedWorkspaces, 'seedWorkspaces', ['fresh', 'snapshot'])
}

/** @throws {TypeError} */
export function assertRestoreOptions(
  checkpointId: string,
  options: RestoreCheckpointOptions,
): void {
  assertText(checkpointId, 'checkpointId')
  const files: unknown = options.files ?? false
  const isList = Array.isArray(files) && files.every((name) => typeof name === 'string')
  if (isList || typeof files === 'boolean') return
  throw new TypeError(
    `files must be a boolean or a list of workspace names, not ${shownArgument(files)}`,
  )
}

/** @throws {TypeError} */
export function assertDiffOptions(options: DiffOptions): void {
  assertObject(options, 'options of diff', "{ from: checkpointId, to: 'now' }")
  assertText(options.from, 'from')
  assertOptionalText(options.to, 'to')
  assertOptionalText(options.workspace, 'workspace')
}

/** @throws {TypeError} */
export function assertReadFiles(options: ReadFilesOptions, work: unknown): void {
  assertObject(options, 'options of readFiles', '{ checkpointId }')
  assertText(options.checkpointId, 'checkpointId')
  assertOptionalText(options.workspace, 'workspace')
  if (typeof work !== 'function') throw new TypeError('the last argument must be a function')
}

/** @throws {TypeError} */
export function assertMoveOptions(name: string, options: MoveOptions): void {
  assertText(name, 'name of the workspace')
  assertObject(options, 'options of moveWorkspace', "{ to: { kind: 'local-bash' } }")
  assertObject(options.to, 'to', "{ kind: 'local-bash' }")
  assertText(options.to.kind, 'to.kind')
}

/** @throws {TypeError} */
export function assertImportOptions(options: ImportSessionOptions): void {
  assertObject(options, 'options of importSession', '{ sessionId, seed }')
  assertText(options.sessionId, 'sessionId')
  assertObject(options.seed, 'seed', 'the result of loadBranchSeed')
}

function assertOptionalText(value: unknown, name: string): void {
  if (value !== undefined) assertText(value, name)
}

function assertObject(value: unknown, name: string, example: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return
  throw new TypeError(`${name} must be an object such as ${example}, not ${shownArgument(value)}`)
}

function assertOneOf(value: unknown, name: string, allowed: readonly string[]): void {
  if (value === undefined || allowed.some((one) => one === value)) return
  const list = allowed.map((one) => `'${one}'`).join(' or ')
  throw new TypeError(`${name} must be ${list}, not ${shownArgument(value)}`)
}
