// Nothing runs here: a test of a Worker on the test bed, in a project without `skipLibCheck`.
import {
  containerEngineAvailability,
  type InjectedFault,
  type SandboxTestbed,
  startSandboxTestbed,
} from '@helix-agents/sandbox-testbed'

export async function useTestbed(): Promise<readonly string[]> {
  await using testbed: SandboxTestbed = await startSandboxTestbed({
    worker: { entry: 'worker.ts', durableObjects: { SANDBOX: { className: 'Sandbox' } } },
    engine: (await containerEngineAvailability()).available ? 'docker' : 'local',
  })
  const fault: InjectedFault = testbed.faults.inject({ kind: 'frozen-network', times: 1 })
  fault.remove()
  const { status } = await testbed.fetch('/', { method: 'POST' })
  const bucket = await testbed.miniflare.getR2Bucket('BACKUP_BUCKET')
  const { objects } = await bucket.list({ prefix: `${status}` })
  const bindings = await testbed.miniflare.getBindings<{ GREETING: string }>()
  return [bindings.GREETING, ...objects.map(({ key }) => key)]
}
