import type { LocalDeployment } from './local-deployment.ts'

type Tell = (line: string) => void
type Fields = Readonly<Record<string, unknown>>

const API = 'https://fleet.example.com/api/sandbox'
const LOOP = 'echo working; (while :; do :; done) > /dev/null 2>&1 & sleep 0.5'

/**
 * Plays the story of README.md.
 * @throws {Error} when a step differs from the story.
 */
export async function playStory(local: LocalDeployment, tell: Tell): Promise<void> {
  const story = new Story(local, tell)
  await story.work()
  await story.investigate()
  await story.clear()
  await story.oweAndConfirm()
  await story.repair()
  await story.emergency()
}

class Story {
  readonly #local: LocalDeployment
  readonly #tell: Tell

  constructor(local: LocalDeployment, tell: Tell) {
    this.#local = local
    this.#tell = tell
  }

  /** One task is done in order; the Worker dies in the middle of two others. */
  async work(): Promise<void> {
    await this.#local.run({ id: '455', agent: 'planning', command: 'echo planned' })
    await this.#forget('456', 'implementation', LOOP)
    await this.#forget('457', 'review', 'echo reviewing')
    this.#tell(
      '# three tasks have run; the Worker died before two of their sandboxes were destroyed',
    )
    await this.#local.later(11)
    this.#tell('# eleven minutes later')
  }

  async investigate(): Promise<void> {
    const stats = await this.#curl(`curl ${API}/stats`)
    this.#show(stats, ['active', 'provisioning', 'terminating', 'total_created', 'total_destroyed'])
    const list = (await this.#run(`curl ${API}/list`)) as Fields[]
    for (const one of list) {
      const { age_minutes: age, findings } = one as { age_minutes: number; findings: Fields[] }
      expect(age >= 11, 'the age is wrong')
      this.#show(one, ['id', 'status', 'agent_type', 'task_id'])
      this.#tell(`    findings: ${findings.map(({ code }) => String(code)).join()}`)
    }
    const { lines } = await this.#curl(`curl ${API}/sandbox-456/logs`)
    this.#tell(`    lines: ${JSON.stringify(lines)}`)
    const used = await this.#curl(`curl ${API}/sandbox-456/resources`)
    const { cpu_percent: cpu, operations } = used as { cpu_percent: number; operations: number }
    this.#tell(`    a busy loop: ${cpu > 2}, operations: ${operations}`)
  }

  async clear(): Promise<void> {
    this.#show(await this.#curl(`curl ${API}/sandbox-456`), ['id', 'status'])
    this.#show(await this.#curl(`curl -X DELETE ${API}/sandbox-456`), ['outcome'])
    this.#show(await this.#curl(`curl ${API}/stats`), ['active', 'total_destroyed'])
    await this.#cron()
    await this.#statusOf('sandbox-457')
    expect((await this.#local.testbed.sandboxes()).length === 0, 'a container is left')
    this.#tell('# no container is left')
  }

  /** A destroy that fails is never reported as done. */
  async oweAndConfirm(): Promise<void> {
    await this.#forget('458', 'review', 'echo reviewing')
    const { faults } = this.#local.testbed
    faults.inject({ kind: 'rejected-destroy', step: 'both', sandbox: 'sandbox-458' })
    this.#tell('# the platform refuses to destroy the next one')
    this.#show(await this.#curl(`curl -X DELETE ${API}/sandbox-458`), ['outcome'])
    const { owed } = await this.#curl(`curl ${API}/sandbox-458`)
    this.#show(owed as Fields, ['attempts'])
    faults.clear()
    await this.#local.later(5)
    await this.#cron()
    await this.#statusOf('sandbox-458')
  }

  /** The ledger says running, and the container is gone. */
  async repair(): Promise<void> {
    await this.#forget('459', 'review', 'echo reviewing')
    await this.#local.testbed.crash('sandbox-459')
    await this.#local.later(5)
    this.#tell('# a container crashes; five minutes later')
    const plan = await this.#curl(`curl -X POST '${API}/reconcile?dry_run=true'`)
    this.#items(plan)
    this.#items(await this.#curl(`curl -X POST ${API}/reconcile`))
    await this.#statusOf('sandbox-459')
  }

  async emergency(): Promise<void> {
    for (const id of ['460', '461']) await this.#forget(id, 'review', 'echo reviewing')
    await this.#local.later(3)
    this.#tell('# two more; three minutes later everything has to go')
    this.#items(await this.#curl(`curl -X POST ${API}/cleanup/emergency`))
    const cleanup = `curl -X POST -H 'Authorization: Bearer local-token-of-the-fleet' ${API}/cleanup`
    this.#show(await this.#curl(cleanup), ['outcome'])
    const stats = await this.#curl(`curl ${API}/stats`)
    this.#show(stats, ['active', 'total_created', 'total_destroyed'])
    expect((await this.#local.testbed.sandboxes()).length === 0, 'a container is left')
    this.#tell('# no container is left')
  }

  async #forget(id: string, agent: string, command: string): Promise<void> {
    await this.#local.run({ id, agent, command, isForgotten: true })
  }

  async #cron(): Promise<void> {
    this.#tell(`# the cron trigger rings: ${await this.#local.ringCron()}`)
  }

  async #statusOf(id: string): Promise<void> {
    this.#show(await this.#curl(`curl ${API}/${id}`), ['status', 'kill_reason'])
  }

  async #curl(command: string): Promise<Fields> {
    return (await this.#run(command)) as Fields
  }

  async #run(command: string): Promise<unknown> {
    this.#tell(`$ ${command}`)
    return this.#local.shell(command)
  }

  #show(body: Fields, names: readonly string[]): void {
    const shown = names.map((name) => `${name}: ${JSON.stringify(body[name])}`)
    this.#tell(`    ${shown.join(', ')}`)
  }

  #items({ items, outcome }: Fields): void {
    const done = (items as Fields[]).map(
      ({ action, id, outcome: end }) => `${id} ${action}: ${end}`,
    )
    for (const line of done.toSorted()) this.#tell(`    ${line}`)
    this.#tell(`    ${String(outcome)}`)
  }
}

function expect(isTrue: boolean, otherwise: string): void {
  if (!isTrue) throw new Error(`the story went wrong: ${otherwise}`)
}
