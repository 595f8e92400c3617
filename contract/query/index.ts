export { keepLive, type KeepLiveOptions, type LiveStatus } from './keep-live.ts'
export { type ClientWithHeaders, createQueryUtils, type QueryUtils } from './orpc.ts'
