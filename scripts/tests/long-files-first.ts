import { statSync } from 'node:fs'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Orders the files of a run so that no long one is left for the end: projects in the order of the
 * configuration, and in each the files that took longest the last time, new ones by their size.
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

/** The sizes of files are all that a first run knows of them. */
function guessMs(path: string): number {
  return statSync(path).size / 10
}
