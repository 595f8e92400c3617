/** The package entry `tallystick-client/query`: helpers for TanStack Query, with the contract of this service. */
export {
  type ClientWithHeaders,
  createQueryUtils,
  keepLive,
  type KeepLiveOptions,
  type LiveStatus,
  type QueryUtils,
} from './bound.ts'
