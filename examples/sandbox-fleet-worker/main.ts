// Starts the Worker in workerd on this machine, runs the commands of the runbook against it, fires
// the cron trigger, and leaves nothing behind.
import { sandboxTestbedAvailability } from '@helix-agents/sandbox-testbed'
import { LocalDeployment } from './local-deployment.ts'
import { playStory } from './story.ts'

const here = await sandboxTestbedAvailability()
if (here.available) {
  await using local = await LocalDeployment.start()
  await playStory(local, (line) => console.log(line))
} else {
  console.error(`sandboxes cannot be run on this machine: ${here.reason}`)
  process.exitCode = 1
}
