import { createWorker } from './create-worker.ts'

export { FleetDirectory } from '@helix-agents/sandbox-fleet/cloudflare'
export { TaskSandbox } from './task-sandbox.ts'

export default createWorker()
