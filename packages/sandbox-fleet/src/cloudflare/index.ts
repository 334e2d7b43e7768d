export {
  CloudflareSandboxFleetDriver,
  type CloudflareSandboxFleetDriverOptions,
  type FleetSandboxStub,
} from './cloudflare-sandbox-fleet-driver.ts'
export {
  type MeasurableFleetSandboxStub,
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
