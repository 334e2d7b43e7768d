import { FleetError } from '@helix-agents/core/runtime'
import type { FleetDriver, SandboxResources, SandboxTarget } from '../driver/fleet-driver.ts'
import {
  CloudflareSandboxFleetDriver,
  type CloudflareSandboxFleetDriverOptions,
  type FleetSandboxStub,
} from './cloudflare-sandbox-fleet-driver.ts'

/** A sandbox in which a command can run. A stub of `@cloudflare/sandbox` fits. */
export interface MeasurableFleetSandboxStub extends FleetSandboxStub {
  exec(
    command: string,
    options: { readonly cwd: string; readonly timeout: number },
  ): Promise<{ readonly stdout: string; readonly exitCode: number }>
}

/** Options of `MeasuringSandboxFleetDriver`. */
export interface MeasuringSandboxFleetDriverOptions extends CloudflareSandboxFleetDriverOptions {
  readonly getSandbox: (id: string) => MeasurableFleetSandboxStub
}

const TICKS_PER_SECOND = 100
const BYTES_PER_MB = 1024 * 1024
const TIMEOUT_MS = 5000

/**
 * Prints the ticks that were used, the memory in pages, the time before and after; the size of a
 * page. Only what the processes of the container use is added up: files such as `/proc/stat` may be
 * those of the host. Each is compared with itself, so that one that ends takes nothing with it.
 */
const MEASURE = `look() {
  cat /proc/[0-9]*/stat 2>/dev/null
  echo "up $(cut -d ' ' -f 1 /proc/uptime)"
}
{ look; sleep 0.2; look; } | awk '
  /^up / { at[n++] = $2; next }
  {
    pid = $1
    if (!sub(/^.*\\) /, "")) next
    key = pid ":" $20
    ticks = $12 + $13
    if (n == 0) { before[key] = ticks; next }
    pages += $22
    used += (key in before) ? ticks - before[key] : ticks
  }
  END { print used + 0, pages + 0, at[0], at[1] }
'
getconf PAGESIZE`

/**
 * As `CloudflareSandboxFleetDriver`, and measures CPU and memory of a sandbox by a command in
 * it. That counts as a use of the container, which sleeps that much later: passes never do it, only
 * an operator who asks. One that does not run is not started: it uses nothing.
 */
export class MeasuringSandboxFleetDriver
  extends CloudflareSandboxFleetDriver
  implements FleetDriver
{
  readonly isMeasuredOnRequest = true
  readonly #getSandbox: MeasuringSandboxFleetDriverOptions['getSandbox']

  constructor(options: MeasuringSandboxFleetDriverOptions) {
    super(options)
    this.#getSandbox = options.getSandbox
  }

  async resources(target: SandboxTarget): Promise<SandboxResources> {
    const { state } = await this.inspect(target)
    if (state === 'stopped') return { cpuPercent: 0, memoryMb: 0 }
    if (state !== 'running') throw unmeasured(target, `its state is ${state}`)
    const sandbox = this.#getSandbox(target.id)
    // The usual directory may be gone.
    const options = { cwd: '/', timeout: TIMEOUT_MS }
    const { exitCode, stdout } = await sandbox.exec(MEASURE, options)
    const numbers = stdout.trim().split(/\s+/).map(Number)
    const used = exitCode === 0 ? resourcesOf(numbers) : undefined
    if (used === undefined) throw unmeasured(target, 'its container has no `awk` or no `/proc`')
    return used
  }
}

function resourcesOf(numbers: readonly number[]): SandboxResources | undefined {
  const [ticks = NaN, pages = NaN, from = NaN, to = NaN, pageBytes = NaN] = numbers
  const seconds = to - from
  const memoryMb = (pages * pageBytes) / BYTES_PER_MB
  const cpuPercent = (ticks / TICKS_PER_SECOND / seconds) * 100
  if (!(seconds > 0) || !Number.isFinite(memoryMb) || !Number.isFinite(cpuPercent)) return undefined
  return { cpuPercent: Math.round(cpuPercent), memoryMb: Math.round(memoryMb) }
}

function unmeasured({ id }: SandboxTarget, why: string): FleetError {
  return new FleetError('not-supported', `the sandbox cannot be measured: ${why}`, {
    sandboxId: id,
  })
}
