import { getSandbox } from '@cloudflare/sandbox'
import type { Fleet } from '@helix-agents/sandbox-fleet'
import type { Env } from './env.ts'

/** A command that an agent wants to run in a sandbox of its own. */
export interface Task {
  readonly id: string
  readonly agentType: string
  readonly command: string
  /** As a Worker that dies: the sandbox stays, and has no owner any more. */
  readonly isForgotten: boolean
}

/** Two looks at all processes of the container, a fifth of a second apart. */
const MEASURE =
  'ticks() { cat /proc/[0-9]*/stat 2>/dev/null | sed "s/.*) //" | awk \'{ t += $12 + $13 } END { print t }\'; }; ' +
  'a=$(ticks); sleep 0.2; b=$(ticks); ' +
  "m=$(cat /proc/[0-9]*/status 2>/dev/null | awk '/VmRSS/ { m += $2 } END { print int(m / 1024) }'); " +
  'echo "$(( (b - a) * 5 )) $m"'

/** Runs a task within the limits of the fleet, and destroys its sandbox. */
export async function runTask(env: Env, fleet: Fleet, task: Task): Promise<string> {
  const id = `sandbox-${task.id}`
  const { agentType } = task
  const sandbox = getSandbox(env.SANDBOX, id)
  const request = { id, provider: 'cloudflare-sandbox', agentType, taskId: task.id }
  // The intent is recorded first: Cloudflare cannot list its sandboxes.
  const lease = await fleet.admission.open(request, async () => {
    await sandbox.exec('true')
  })
  const output = await lease.run(async () => {
    const { stdout, stderr } = await sandbox.exec(task.command)
    const [cpuPercent = 0, memoryMb = 0] = (await sandbox.exec(MEASURE)).stdout
      .split(' ')
      .map(Number)
    const object = env.SANDBOX.get(env.SANDBOX.idFromName(id))
    await object.note({ output: stdout + stderr, cpuPercent, memoryMb })
    return stdout
  })
  if (!task.isForgotten) await lease.terminate()
  return output
}
