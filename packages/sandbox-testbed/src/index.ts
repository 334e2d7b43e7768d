export type { Fault, FaultKind, FaultOf, FaultScope, InjectedFault } from './faults/fault.ts'
export type { Faults } from './faults/fault-set.ts'
export {
  containerEngineAvailability,
  type ContainerEngineAvailability,
} from './engine/docker/engine-availability.ts'
export {
  type IsolationChoice,
  sandboxTestbedAvailability,
  type SandboxTestbedAvailability,
} from './root/choose-isolation.ts'
export type { ContainerImage } from './root/image.ts'
export type { ContainerLimits } from './root/mount-plan.ts'
export type { RunningSandbox } from './running-sandbox.ts'
export { startSandboxTestbed, type SandboxTestbed, type SandboxTestbedOptions } from './testbed.ts'
export { SandboxTestbedError, type SandboxTestbedErrorCode } from './testbed-error.ts'
export type {
  TestbedBucket,
  TestbedBucketContent,
  TestbedBucketObject,
  TestbedMiniflare,
  TestbedNamespace,
  TestbedWorker,
} from './worker/testbed-miniflare.ts'
export type {
  DurableObjectSetting,
  BindingValue,
  WorkerSettings,
} from './worker/worker-settings.ts'
