export {
  type ClientWithHeaders,
  createQueryUtils,
  keepLive,
  type KeepLiveOptions,
  type LiveStatus,
  type QueryUtils,
} from './bound.ts'
