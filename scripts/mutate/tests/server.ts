// Keeps Vitest alive and runs selected tests with one mutant at a time, as its parent asks over the
// channel of the process: the files stay transformed, and loaded where the processes are shared.
import { join, relative } from 'node:path'
import {
  BaseSequencer,
  createVitest,
  type TestCase,
  type TestModule,
  type TestSpecification,
  type Vitest,
} from 'vitest/node'
import { KeptWorkers, killWorkers } from './kept-workers.ts'
import {
  type FileReport,
  type OneTestReport,
  RECORDING,
  type TestReport,
  type TestRequest,
} from './protocol.ts'

/** The order is that of the request. */
class AsAsked extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files)
  }
}

const root = process.cwd()
/** The files that have ended in this run. Vitest's own result also has those of earlier ones. */
const ended = new Set<TestModule>()
const vitest = await createVitest('test', {
  config: join(root, 'vitest.workspace.ts'),
  root,
  watch: false,
  reporters: [{ onTestModuleEnd: (module) => void ended.add(module) }],
  maxWorkers: 1,
  fileParallelism: false,
  sequence: { sequencer: AsAsked },
})
const switching = join(import.meta.dirname, 'switch-mutant.ts')
const workers = new KeptWorkers()
for (const project of vitest.projects) {
  project.config.setupFiles.unshift(switching)
  workers.keep(project)
}

const specifications = new Map<string, TestSpecification>()
for (const specification of await vitest.globTestSpecifications(process.argv.slice(2))) {
  specifications.set(relative(root, specification.moduleId), specification)
}

process.on('message', (request: TestRequest) => {
  void run(vitest, request).then(
    (end) => process.send?.(end),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.on('disconnect', () => process.exit(0))
process.send?.('ready')

async function run(within: Vitest, request: TestRequest): Promise<TestReport | 'timed-out'> {
  if (request.processes === 'renewed') await workers.stop()
  workers.isKeeping = request.processes !== 'new'
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    killWorkers()
  }, request.limitMs)
  try {
    const report = await runTests(within, request)
    return isLate ? 'timed-out' : report
  } finally {
    clearTimeout(timer)
  }
}

async function runTests(within: Vitest, request: TestRequest): Promise<TestReport> {
  // One failure decides; only what is recorded is of interest as a whole.
  within.config.bail = request.mutant === RECORDING ? 0 : 1
  for (const project of within.projects) {
    const { config } = project
    config.bail = within.config.bail
    project.provide('helixMutant', request.mutant)
    project.provide('helixTestTimeout', Math.ceil(request.testTimeoutMs ?? 0))
  }
  within.state.clearErrors()
  ended.clear()
  const chosen = request.tests.flatMap(({ file, ids }) => {
    const all = specifications.get(file)
    if (all === undefined) return []
    return ids === undefined
      ? [all]
      : [all.project.createSpecification(all.moduleId, { testIds: [...ids] })]
  })
  const { unhandledErrors } = await within.runTestSpecifications(chosen)
  return {
    files: [...ended].map((module) => reportOf(module, request.mutant === RECORDING)),
    errors: unhandledErrors.map((error) =>
      String(error instanceof Error ? error.stack : Reflect.get(Object(error), 'message')),
    ),
  }
}

function reportOf(module: TestModule, isRecording: boolean): FileReport {
  const { duration, collectDuration, setupDuration } = module.diagnostic()
  return {
    file: relative(root, module.moduleId),
    passed: module.ok(),
    failure: failureOf(module),
    ms: duration + collectDuration + setupDuration,
    loaded: module.meta().loadedMutants ?? [],
    reached: module.meta().mutants ?? [],
    tests: [...module.children.allTests()].map((test) => testReport(test, isRecording)),
  }
}

function failureOf(module: TestModule): string | undefined {
  const ofTests = [...module.children.allTests()].flatMap((test) => test.result().errors ?? [])
  return [...module.errors(), ...ofTests][0]?.message
}

function testReport(test: TestCase, isRecording: boolean): OneTestReport {
  return {
    id: test.id,
    name: test.fullName,
    state: test.result().state,
    ms: test.diagnostic()?.duration ?? 0,
    reached: isRecording ? (test.meta().mutants ?? []) : [],
  }
}
