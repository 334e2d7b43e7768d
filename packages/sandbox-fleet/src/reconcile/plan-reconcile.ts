import { FleetError } from '@helix-agents/core/runtime'
import type { ListedSandbox } from '../driver/fleet-driver.ts'
import type { GuardedDriver } from '../driver/guarded-driver.ts'
import { causeText, errorText } from '../error-text.ts'
import { type FleetContext, ruleContext } from '../fleet-context.ts'
import { fleetMessages } from '../fleet-messages.ts'
import type { SandboxRecord, SandboxStatus } from '../ledger/sandbox-record.ts'
import type { FleetPage } from '../store/fleet-store.ts'
import type { ReconcileCursors, ReconcilePage } from './reconcile-cursors.ts'
import type { ReconcileAction, RejectedListing } from './reconcile-report.ts'

/** Small enough that a pass makes progress even when each record takes the longest time. */
const PAGE = 50
const ALIVE: readonly SandboxStatus[] = ['provisioning', 'running', 'failed']

export interface ReconcilePlan {
  readonly actions: readonly ReconcileAction[]
  readonly rejected: readonly RejectedListing[]
  readonly skipped: number
  /** What was read of the ledger, by provider and in order. */
  readonly pages: readonly ReconcilePage[]
}

/** One provider, and where its part of the ledger is resumed. */
interface Section {
  readonly driver: GuardedDriver
  readonly cursor: string | undefined
  readonly keepLease: () => Promise<unknown>
}

export interface PlanOptions {
  /** Where each provider is resumed. */
  readonly cursors: ReconcileCursors
  /** Called repeatedly, since planning can take long. */
  readonly keepLease: () => Promise<unknown>
}

/**
 * Compares the ledger with what each provider has, of each as many records as a pass may examine.
 * Changes nothing.
 */
export async function planReconcile(
  context: FleetContext,
  { cursors, keepLease }: PlanOptions,
): Promise<ReconcilePlan> {
  const plans: ReconcilePlan[] = []
  for (const driver of context.drivers.values()) {
    const { provider } = driver
    const cursor = Object.hasOwn(cursors, provider) ? cursors[provider] : undefined
    const section = { driver, cursor, keepLease }
    plans.push(driver.canList ? await compare(context, section) : await check(context, section))
  }
  return {
    actions: plans.flatMap(({ actions }) => actions),
    rejected: plans.flatMap(({ rejected }) => rejected),
    skipped: plans.reduce((sum, { skipped }) => sum + skipped, 0),
    pages: plans.flatMap(({ pages }) => pages),
  }
}

/** A provider that cannot list is asked about each sandbox of the ledger, when the plan is applied. */
async function check(context: FleetContext, section: Section): Promise<ReconcilePlan> {
  const pages = await readPages(context, section, () => true)
  return { actions: pages.flatMap(({ actions }) => actions), rejected: [], skipped: 0, pages }
}

async function compare(context: FleetContext, section: Section): Promise<ReconcilePlan> {
  const { cursor, driver, keepLease } = section
  const { provider } = driver
  const startedAt = context.clock.now()
  const listed = await readListing(context, driver)
  if ('because' in listed) {
    const place = cursor !== undefined && { from: cursor, next: cursor }
    const pages = [{ provider, actions: [], ...place }]
    return { actions: [], rejected: [listed], skipped: 0, pages }
  }
  // A record that changed since may be newer than the listing.
  const isMissing = ({ id, statusSince }: SandboxRecord): boolean =>
    !listed.has(id) && statusSince < startedAt
  const pages = await readPages(context, section, isMissing)
  const actions = pages.flatMap((page) => page.actions)
  let skipped = 0
  for (const sandbox of listed.values()) {
    if (!context.rules.hasValidId(sandbox.id)) {
      skipped += 1
      continue
    }
    await keepLease()
    const action = await judgeListed(context, provider, sandbox)
    if (action === 'unreadable') skipped += 1
    else if (action !== undefined) actions.push(action)
  }
  return { actions, rejected: [], skipped, pages }
}

async function readListing(
  context: FleetContext,
  driver: GuardedDriver,
): Promise<ReadonlyMap<string, ListedSandbox> | RejectedListing> {
  const { provider } = driver
  try {
    const listing = await driver.list()
    if (context.rules.isWhole(listing)) {
      return new Map(listing.sandboxes.map((sandbox) => [sandbox.id, sandbox]))
    }
    return reject(context, { provider, because: 'partial', detail: 'some may be missing' })
  } catch (error) {
    const cause = causeText(error)
    const detail = cause === undefined ? errorText(error) : `${errorText(error)} (${cause})`
    return reject(context, { provider, because: 'failed', detail }, error)
  }
}

function reject(context: FleetContext, rejected: RejectedListing, err?: unknown): RejectedListing {
  const fields = err === undefined ? rejected : { ...rejected, err }
  context.logger.warn(fields, fleetMessages.listingRejected)
  return rejected
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

/** The next records of a provider, up to the limit of a pass: those that look lost are to be healed. */
async function readPages(
  context: FleetContext,
  { cursor, driver: { provider }, keepLease }: Section,
  isLost: (record: SandboxRecord) => boolean,
): Promise<readonly ReconcilePage[]> {
  const { policy, rules } = context
  const pages: ReconcilePage[] = []
  let examined = 0
  let from = cursor
  do {
    await keepLease()
    const { nextCursor, records, unreadable } = await readPage(context, provider, from)
    const actions = records
      .filter(({ createdAt }) => rules.isPastGrace(createdAt, ruleContext(context)))
      .filter(isLost)
      .map(healOf)
    pages.push({
      provider,
      actions,
      ...(from !== undefined && { from }),
      ...(nextCursor !== undefined && { next: nextCursor }),
    })
    examined += records.length + unreadable
    from = nextCursor
  } while (from !== undefined && examined < policy.maxExaminedPerPass)
  return pages
}

/** A cursor of another release is none: the round begins anew instead of failing for ever. */
async function readPage(
  { environment, store }: FleetContext,
  provider: string,
  cursor: string | undefined,
): Promise<FleetPage> {
  const query = { provider, environment, status: ALIVE, limit: PAGE }
  if (cursor === undefined) return store.list(query)
  try {
    return await store.list({ ...query, cursor })
  } catch (error) {
    if (!FleetError.isInstance(error) || error.code !== 'invalid-query') throw error
    return store.list(query)
  }
}
