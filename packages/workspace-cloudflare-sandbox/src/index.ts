export { CloudflareSandboxCodeInterpreter } from './modules/code/cloudflare-sandbox-code-interpreter.ts'
export { CloudflareSandboxFileSystem } from './modules/fs/cloudflare-sandbox-file-system.ts'
export { CloudflareSandboxShell } from './modules/shell/cloudflare-sandbox-shell.ts'
export { CloudflareSandboxSnapshotter } from './modules/snapshot/cloudflare-sandbox-snapshotter.ts'
export { CloudflareSandboxWorkspace } from './lifecycle/cloudflare-sandbox-workspace.ts'
export type {
  CloudflareSandboxConfig,
  CloudflareSandboxConfigInput,
  SandboxMount,
} from './config.ts'
export {
  type CallAdmission,
  DriverError,
  type DriverErrorCode,
  type DriverErrorOptions,
} from './driver/driver-error.ts'
export { type SdkLine, SUPPORTED_SDKS } from './driver/installed-sdk.ts'
export type { CreateSandboxDriver, DriverSettings, SandboxDriver } from './driver/port.ts'
export {
  createSdkDriver,
  type SandboxSource,
  type SdkDriverOptions,
} from './driver/sdk-0-12/create-sdk-driver.ts'
export type { SandboxNamespace, SandboxStub } from './driver/sdk-0-12/stub.ts'
export type { NextProcess, NextProcessOutput, NextSandboxStub } from './driver/sdk-0-13/stub.ts'
export { CloudflareSandboxWorkspaceProvider } from './provider.ts'
export type { CloudflareSandboxWorkspaceProviderOptions } from './provider-options.ts'
export type { SandboxDirectory, SandboxDirectoryEntry } from './lifecycle/sandbox-directory.ts'
