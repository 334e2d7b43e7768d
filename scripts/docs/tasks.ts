// The tasks of an API page: what a reader wants to do, by the folder that holds the declaration.
import type { Declaration } from './declarations.ts'

/** In reading order; a folder that is not named here makes a task of its own name, behind these. */
const tasks: readonly (readonly [folder: string, title: string])[] = [
  ['agent', 'Declaring agents and tools'],
  ['executor', 'Running agents'],
  ['server', 'Serving agents'],
  ['', 'General'],
  ['run', 'Runs'],
  ['workspace', 'Workspaces and their providers'],
  ['modules', 'Capabilities'],
  ['modules/fs', 'Files'],
  ['modules/shell', 'Commands'],
  ['modules/code', 'Code'],
  ['modules/snapshot', 'Snapshots of a workspace'],
  ['snapshot-store', 'Where snapshots are kept'],
  ['snapshot', 'Snapshots'],
  ['permissions', 'Permissions and approvals'],
  ['request', 'Requests to people'],
  ['budget', 'Limits and usage'],
  ['context', 'What the model gets'],
  ['llm', 'Models'],
  ['prompt', 'Prompts'],
  ['tools', 'Tools for the model'],
  ['state', 'Sessions'],
  ['session', 'Sessions of an executor'],
  ['stream', 'Streams'],
  ['registry', 'Live workspaces'],
  ['orchestration', 'Steps of a run'],
  ['errors', 'Errors'],
  ['telemetry', 'Traces and metrics'],
  ['logging', 'Logs'],
  ['time', 'Time'],
]

/** Title of the task that a declaration serves. */
export function taskOf({ file }: Declaration): string {
  const [, folder = ''] = /^packages\/[^/]+\/src\/(?:(?<folder>.+)\/)?[^/]+$/.exec(file) ?? []
  const [top = '', next = ''] = folder.split('/')
  const known = titleOf(`${top}/${next}`) ?? titleOf(top)
  return known ?? top.charAt(0).toUpperCase() + top.slice(1).replaceAll('-', ' ')
}

/** Place of a task on its page. */
export function orderOf(task: string): number {
  const place = tasks.findIndex(([, title]) => title === task)
  return place === -1 ? tasks.length : place
}

function titleOf(folder: string): string | undefined {
  return tasks.find(([name]) => name === folder)?.[1]
}
