import { FleetError } from '@helix-agents/core/runtime'
import { Random } from './random.ts'
import { VirtualClock } from './virtual-clock.ts'

export const ENVIRONMENT = 'sim'

/** How unkind a schedule is; probabilities. */
export interface Faults {
  readonly store: number
  readonly storeLostReply: number
  readonly driverFails: number
  readonly driverHangs: number
  readonly driverLosesReply: number
  readonly destroyDoesNothing: number
  readonly listingPartial: number
  readonly slowStart: number
  readonly createFails: number
  readonly sweeperCrash: number
  readonly ownerCrash: number
}

export const NO_FAULTS: Faults = {
  store: 0,
  storeLostReply: 0,
  driverFails: 0,
  driverHangs: 0,
  driverLosesReply: 0,
  destroyDoesNothing: 0,
  listingPartial: 0,
  slowStart: 0,
  createFails: 0,
  sweeperCrash: 0,
  ownerCrash: 0,
}

/** What the schedules check, and what happened in them. */
export interface Tally {
  created: number
  attached: number
  resumed: number
  killed: number
  retried: number
  faults: number
  unknownProbes: number
  orphansEnded: number
  healed: number
  leaseHeld: number
  crashes: number
  events: number
}

/** One simulated deployment: its time, its luck, and what went wrong. */
export class World {
  readonly seed: number
  readonly clock = new VirtualClock()
  readonly random: Random
  readonly violations: string[] = []
  readonly tally: Tally = {
    created: 0,
    attached: 0,
    resumed: 0,
    killed: 0,
    retried: 0,
    faults: 0,
    unknownProbes: 0,
    orphansEnded: 0,
    healed: 0,
    leaseHeld: 0,
    crashes: 0,
    events: 0,
  }
  faults: Faults
  /** The ledger does not answer until then. */
  storeDownUntil = 0
  readonly trace: string[] | undefined

  constructor(seed: number, options: { readonly isTraced?: boolean } = {}) {
    this.seed = seed
    this.random = new Random(seed)
    this.faults = drawFaults(this.random)
    this.trace = options.isTraced === true ? [] : undefined
  }

  note(text: string): void {
    this.trace?.push(`${((this.clock.now() - 1_000_000_000) / 1000).toFixed(1)}s ${text}`)
  }

  violate(text: string): void {
    this.note(`VIOLATION ${text}`)
    this.violations.push(text)
  }

  /** Whether a fault strikes now. */
  strikes(fault: keyof Faults): boolean {
    const does = this.random.chance(this.faults[fault])
    if (does) this.tally.faults += 1
    return does
  }
}

/** Most schedules have a few kinds of faults, some have all. */
function drawFaults(random: Random): Faults {
  const draw = (most: number): number => (random.chance(0.5) ? random.between(0, most) : 0)
  return {
    store: draw(0.1),
    storeLostReply: draw(0.1),
    driverFails: draw(0.4),
    driverHangs: draw(0.2),
    driverLosesReply: draw(0.3),
    destroyDoesNothing: draw(0.4),
    listingPartial: draw(0.5),
    slowStart: draw(0.5),
    createFails: draw(0.3),
    sweeperCrash: draw(0.02),
    ownerCrash: draw(0.6),
  }
}

export function unavailable(): FleetError {
  return new FleetError('unavailable', 'the simulated ledger does not answer')
}
