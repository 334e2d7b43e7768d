// Permission rules and previews over real files: links, restarts, what a command leaves.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type CallAccess, defineAgent, noopLogger, type PermissionRule } from '@helix-agents/core'
import type { WorkspaceRef } from '@helix-agents/core/provider'
import {
  basisHolds,
  decideCall,
  injectWorkspaceTools,
  permissionsOf,
  previewCall,
  WorkspaceRegistry,
} from '@helix-agents/core/runtime'
import { LocalBashWorkspaceProvider } from '@helix-agents/workspace-local-bash'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(path.join(tmpdir(), 'helix-permissions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const session = { sessionId: 's', agentType: 'worker' }

class Box {
  readonly agent
  readonly registry: WorkspaceRegistry
  ref: WorkspaceRef | undefined

  constructor(permissions: readonly PermissionRule[], ref?: WorkspaceRef) {
    this.agent = defineAgent({
      name: 'worker',
      llmConfig: { model: 'none' },
      permissions,
      workspaces: {
        box: {
          provider: { kind: 'local-bash' },
          capabilities: { fs: { extended: true }, shell: true },
        },
      },
    })
    const provider = new LocalBashWorkspaceProvider({ tmpdirRoot: folder })
    this.registry = new WorkspaceRegistry(this.agent.workspaces, {
      providers: new Map([['local-bash', provider]]),
      session,
      logger: noopLogger,
      persistRef: async (_name, given) => {
        this.ref = given ?? undefined
      },
      ...(ref !== undefined && { refs: { box: ref } }),
    })
  }

  get access(): CallAccess {
    const abortSignal = new AbortController().signal
    return { ...session, abortSignal, workspaces: this.registry }
  }

  async call(name: string, given: object) {
    const tools = injectWorkspaceTools(this.agent.workspaces, () => ({ fs: true, shell: true }))
    const tool = tools.find((each) => each.name === `workspace__box__${name}`)!
    return { tool, input: await tool.parse(given), access: this.access }
  }

  async decide(name: string, given: object): Promise<string> {
    const rules = [permissionsOf(this.agent) ?? []].flat()
    return (await decideCall(rules, await this.call(name, given))).decision
  }

  async preview(name: string, given: object) {
    return previewCall({ ...(await this.call(name, given)), args: JSON.stringify(given) })
  }

  async shell(command: string): Promise<void> {
    await this.registry.use('box', async ({ live }) => void (await live.shell?.run(command)))
  }
}

test('rules see where links lead, whatever made them', async () => {
  const box = new Box([
    { decision: 'deny', path: '/secrets/**' },
    { decision: 'ask', tool: 'rm' },
  ])
  await box.shell('mkdir -p secrets open && echo k > secrets/key && ln -s secrets link')
  await box.shell('ln -s ../secrets/key open/key && ln -s /etc out && ln -s loop loop')
  expect(await box.decide('read_file', { path: '/link/key' })).toBe('deny')
  expect(await box.decide('read_file', { path: '/open/key' })).toBe('deny')
  expect(await box.decide('write_file', { path: '/link/new/file', content: '' })).toBe('deny')
  expect(await box.decide('copy', { from: '/link', to: '/copy' })).toBe('deny')
  expect(await box.decide('read_file', { path: '/out/passwd' })).toBe('allow')
  expect(await box.decide('read_file', { path: '/loop' })).toBe('allow')
  expect(await box.decide('rm', { path: '/link' })).toBe('ask')
  const shown = await box.preview('rm', { path: '/link' })
  expect(shown.title).toBe('remove the link /link: what it leads to stays')
  await box.registry.close({ mode: 'end' })
})

test('an approval survives a restart of the process, and not a change by a command', async () => {
  const box = new Box([{ decision: 'ask', tool: 'write_file' }])
  await box.shell('printf "one\\ntwo\\n" > a && mkdir d && echo x > d/x')
  const write = { path: '/a', content: 'one\n2\n' }
  const rm = { path: '/d', opts: { recursive: true } }
  const shown = await box.preview('write_file', write)
  const removal = await box.preview('rm', rm)
  expect(shown.body).toContain('-two\n+2')
  expect(removal.title).toBe('remove /d: a directory with 1 file, 2 bytes')
  await box.registry.close({ mode: 'detach' })

  const next = new Box([{ decision: 'ask', tool: 'write_file' }], box.ref)
  const holds = async (name: string, given: object, { basis }: typeof shown) =>
    basisHolds(await next.call(name, given), basis)
  expect(await holds('write_file', write, shown)).toBe(true)
  expect(await holds('rm', rm, removal)).toBe(true)
  await next.shell('touch a d/x')
  expect(await holds('write_file', write, shown)).toBe(true)
  await next.shell('echo more >> a && echo y > d/y')
  expect(await holds('write_file', write, shown)).toBe(false)
  expect(await holds('rm', rm, removal)).toBe(false)
  await next.registry.close({ mode: 'end' })
})
