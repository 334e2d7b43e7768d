export {
  CloudflareSandboxFleetDriver,
  type CloudflareSandboxFleetDriverOptions,
  type SandboxStub,
} from './cloudflare-sandbox-fleet-driver.ts'
export {
  type MeasurableSandboxStub,
  MeasuringSandboxFleetDriver,
  type MeasuringSandboxFleetDriverOptions,
} from './measuring-sandbox-fleet-driver.ts'
export { FleetDirectory } from './fleet-directory.ts'
export type { FleetReply } from './fleet-reply.ts'
export {
  type FleetDirectoryStub,
  remoteFleetStore,
  type RemoteFleetStoreOptions,
} from './remote-fleet-store.ts'
