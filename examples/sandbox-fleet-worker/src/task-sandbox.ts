import { Sandbox } from '@cloudflare/sandbox'

/** What is known of a sandbox without asking its container, which would keep it awake. */
export interface TaskNotes {
  readonly output: string
  readonly cpuPercent: number
  readonly memoryMb: number
}

const KEY = 'task-notes'
const KEPT_CHARACTERS = 16_000

/** A sandbox that remembers what its last task wrote and used. */
export class TaskSandbox extends Sandbox {
  async note(notes: TaskNotes): Promise<void> {
    const before = await this.notes()
    const output = (before?.output ?? '') + notes.output
    await this.ctx.storage.put(KEY, { ...notes, output: output.slice(-KEPT_CHARACTERS) })
  }

  async notes(): Promise<TaskNotes | undefined> {
    return this.ctx.storage.get<TaskNotes>(KEY)
  }
}
