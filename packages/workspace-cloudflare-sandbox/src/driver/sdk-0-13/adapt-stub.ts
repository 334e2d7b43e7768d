import { DriverError } from '../driver-error.ts'
import type { SandboxStub } from '../sdk-0-12/stub.ts'
import type { NextProcessOutput, NextSandboxStub } from './stub.ts'

/** What the 0.12 server reports of a command whose time ran out. */
const TIMED_OUT = 124

type CallOptions = Parameters<SandboxStub['exec']>[1]

/**
 * A sandbox of the 0.13 line for the driver that is written for 0.12: scripts run in a shell of their
 * own, which the argument vector names, and the handle is waited for.
 *
 * The line names no placement: only the epoch says which container answers.
 */
export function adaptStub(stub: NextSandboxStub): SandboxStub {
  return {
    exec: (script, options) => runScript(stub, script, options),
    writeFile: (path, content, options) => stub.writeFile(path, content, options),
    readFile: readerOf(stub),
    getState: () => stub.getState(),
    getContainerPlacementId: async () => null,
    destroy: () => stub.destroy(),
    createBackup: (options) => stub.createBackup(options),
    restoreBackup: (backup) => stub.restoreBackup(backup),
    mountBucket: (bucket, path, options) => stub.mountBucket(bucket, path, options),
  }
}

async function runScript(
  stub: NextSandboxStub,
  script: string,
  options: CallOptions,
): ReturnType<SandboxStub['exec']> {
  const process = await stub.exec(['/bin/bash', '-c', script], options)
  const output = await process.output()
  if (output.truncated) throw lostOutput()
  return {
    stdout: textOf(output.stdout),
    stderr: textOf(output.stderr),
    exitCode: exitCodeOf(output),
  }
}

/** The two readings of a file are one method of the platform. */
function readerOf(stub: NextSandboxStub): SandboxStub['readFile'] {
  function readFile(
    path: string,
    options: { readonly encoding: 'none' },
  ): Promise<{ readonly content: ReadableStream<Uint8Array> }>
  function readFile(
    path: string,
    options: { readonly encoding: 'base64' },
  ): Promise<{ readonly content: string }>
  function readFile(
    path: string,
    { encoding }: { readonly encoding: 'none' | 'base64' },
  ): Promise<{ readonly content: ReadableStream<Uint8Array> | string }> {
    return encoding === 'none'
      ? stub.readFile(path, { encoding })
      : stub.readFile(path, { encoding })
  }
  return readFile
}

function exitCodeOf({ exitCode, timedOut }: NextProcessOutput): number {
  return timedOut ? TIMED_OUT : exitCode
}

/** A byte order mark is a character like any other. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes)
}

/** The answer ends with its proof, so that what is missing is of its beginning. */
function lostOutput(): DriverError {
  const detail = 'the container kept only a part of what a script has answered'
  return new DriverError('interrupted', detail, { admitted: 'unknown' })
}
