import { FleetError } from '@helix-agents/core'
import type { ListedSandbox } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { type FleetContext, ruleContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import type { SandboxRecord, SandboxStatus } from '../ledger/sandbox-record.ts'
import type { ReconcileAction, RefusedListing } from './reconcile-report.ts'

const PAGE = 200
const ALIVE: readonly SandboxStatus[] = ['provisioning', 'running', 'failed']

export interface ReconcilePlan {
  readonly actions: readonly ReconcileAction[]
  readonly refused: readonly RefusedListing[]
  readonly skipped: number
}

interface DriverPlan {
  readonly actions: readonly ReconcileAction[]
  readonly refused?: RefusedListing
  readonly skipped: number
}

/** Compares the ledger with what each provider has. Changes nothing. */
export async function planReconcile(context: FleetContext): Promise<ReconcilePlan> {
  const plans: DriverPlan[] = []
  for (const driver of context.drivers.values()) {
    plans.push(driver.canList ? await compare(context, driver) : await check(context, driver))
  }
  return {
    actions: plans.flatMap(({ actions }) => actions),
    refused: plans.flatMap(({ refused }) => refused ?? []),
    skipped: plans.reduce((sum, { skipped }) => sum + skipped, 0),
  }
}

/** A provider that cannot list is asked about each sandbox of the ledger, when the plan is applied. */
async function check(context: FleetContext, driver: GuardedDriver): Promise<DriverPlan> {
  const actions: ReconcileAction[] = []
  await eachAlive(context, driver.provider, (record) => actions.push(healOf(record)))
  return { actions, skipped: 0 }
}

async function compare(context: FleetContext, driver: GuardedDriver): Promise<DriverPlan> {
  const startedAt = context.clock.now()
  const listed = await readListing(context, driver)
  if ('because' in listed) return { actions: [], refused: listed, skipped: 0 }
  const actions: ReconcileAction[] = []
  let skipped = 0
  await eachAlive(context, driver.provider, (record) => {
    // Whatever was changed meanwhile may be newer than the list.
    if (!listed.has(record.id) && record.statusSince < startedAt) actions.push(healOf(record))
  })
  for (const sandbox of listed.values()) {
    if (!context.rules.hasValidId(sandbox.id)) {
      skipped += 1
      continue
    }
    const action = await judgeListed(context, driver.provider, sandbox)
    if (action === 'unreadable') skipped += 1
    else if (action !== undefined) actions.push(action)
  }
  return { actions, skipped }
}

async function readListing(
  context: FleetContext,
  driver: GuardedDriver,
): Promise<ReadonlyMap<string, ListedSandbox> | RefusedListing> {
  const { provider } = driver
  try {
    const listing = await driver.list()
    if (context.rules.isWhole(listing)) {
      return new Map(listing.sandboxes.map((sandbox) => [sandbox.id, sandbox]))
    }
    return refuse(context, { provider, because: 'partial', detail: 'some may be missing' })
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unknown error'
    return refuse(context, { provider, because: 'failed', detail })
  }
}

function refuse(context: FleetContext, refused: RefusedListing): RefusedListing {
  context.logger.warn(refused, fleetMessages.listingRefused)
  return refused
}

async function judgeListed(
  context: FleetContext,
  provider: string,
  listed: ListedSandbox,
): Promise<ReconcileAction | 'unreadable' | undefined> {
  const { id } = listed
  // Sandboxes of other deployments are none of our business, in a dry run as well.
  if (!context.rules.hasOwnLabel(listed.environment, ruleContext(context))) return undefined
  const record = await readable(context, id)
  if (record === 'unreadable') return record
  if (record === undefined) return { kind: 'end-orphan', id, provider, listed }
  if (record.status !== 'terminated' || record.provider !== provider) return undefined
  return { kind: 'destroy-again', id, provider, status: record.status, listed }
}

/** A record that cannot be read says nothing, and does not keep the others from being compared. */
async function readable(
  { store }: FleetContext,
  id: string,
): Promise<SandboxRecord | 'unreadable' | undefined> {
  try {
    return await store.get(id)
  } catch (error) {
    if (FleetError.isInstance(error) && error.code === 'corrupt') return 'unreadable'
    throw error
  }
}

function healOf({ id, provider, status }: SandboxRecord): ReconcileAction {
  return { kind: 'heal-record', id, provider, status }
}

async function eachAlive(
  context: FleetContext,
  provider: string,
  visit: (record: SandboxRecord) => void,
): Promise<void> {
  const { environment, policy, rules, store } = context
  let examined = 0
  let cursor: string | undefined
  do {
    const page = await store.list({
      provider,
      environment,
      status: ALIVE,
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    })
    for (const record of page.records) {
      if (rules.isPastGrace(record.createdAt, ruleContext(context))) visit(record)
    }
    examined += page.records.length
    cursor = page.nextCursor
  } while (cursor !== undefined && examined < policy.maxExaminedPerPass)
}
