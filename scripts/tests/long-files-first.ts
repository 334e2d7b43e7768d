import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds of the files that are long for their size: a first run has no times of its own. */
export const LONG_FILES: Readonly<Record<string, number>> = {
  'examples/chat/page.test.ts': 12,
  'examples/examples.test.ts': 60,
  'examples/models.test.ts': 25,
  'examples/research-assistant-cloudflare-do/processes.test.ts': 25,
  'examples/workspaces-showcase/showcase.test.ts': 40,
  'packages/cli/test/bin.test.ts': 20,
  'packages/runtime-js/test/conformance/executor-saboteurs.test.ts': 20,
  'packages/sandbox-testbed/test/start-failures.test.ts': 10,
  'packages/shell-just-bash/test/attacks/attacks.test.ts': 20,
  'packages/shell-just-bash/test/conformance.test.ts': 25,
  'packages/snapshot-store-s3/test/conformance.test.ts': 20,
  'packages/store-postgres/test/conformance.test.ts': 20,
  'packages/store-postgres/test/failover.test.ts': 15,
  'packages/store-postgres/test/soak/soak.test.ts': 12,
  'packages/store-sqlite/test/crash/kill.test.ts': 12,
  'packages/store-sqlite/test/crash/lease.test.ts': 15,
  'packages/worker-postgres/test/kill.test.ts': 20,
  'packages/workspace-cloudflare-filestore/test/bounds.node.test.ts': 25,
  'packages/workspace-cloudflare-filestore/test/full-database.node.test.ts': 15,
  'packages/workspace-cloudflare-sandbox/test/conformance.test.ts': 40,
  'packages/workspace-cloudflare-sandbox/test/driver/files.test.ts': 20,
  'packages/workspace-cloudflare-sandbox/test/driver/lifecycle.test.ts': 25,
  'packages/workspace-cloudflare-sandbox/test/fault-matrix-each-call.test.ts': 25,
  'packages/workspace-cloudflare-sandbox/test/fault-matrix.test.ts': 50,
  'packages/workspace-cloudflare-sandbox/test/hostile/snapshots.test.ts': 20,
  'packages/workspace-cloudflare-sandbox/test/hostile/workloads.test.ts': 40,
  'packages/workspace-cloudflare-sandbox/test/workspace-root.test.ts': 25,
  'packages/workspace-conformance/test/shell.test.ts': 20,
  'packages/workspace-conformance/test/store/stream-saboteurs.test.ts': 20,
  'packages/workspace-local-bash/test/bounds.test.ts': 40,
  'packages/workspace-local-bash/test/conformance.test.ts': 60,
  'scripts/scaffold/scaffold.test.ts': 40,
}

/**
 * Orders the files of a run so that no long one is left for the end: projects in the order of the
 * configuration, and in each the files that took longest the last time, new ones by what is known of
 * them, or by their size.
 * The files of a project stay together, since only then its processes are used again.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = this.ctx.projects.map(({ name }) => name)
    const keyed = files.map((file) => ({
      file,
      project: order.indexOf(file.project.name),
      ms: this.ctx.cache.getTestSpecificationResult(file)?.duration ?? guessMs(file.moduleId),
    }))
    return keyed.toSorted((a, b) => a.project - b.project || b.ms - a.ms).map(({ file }) => file)
  }
}

function guessMs(path: string): number {
  const seconds = LONG_FILES[relative(join(import.meta.dirname, '../..'), path)]
  return seconds === undefined ? statSync(path).size / 10 : seconds * 1000
}
