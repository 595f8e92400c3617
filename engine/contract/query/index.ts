export { keepLive, type KeepLiveOptions, type LiveStatus, type RelatedResources } from './keep-live.ts'
export { type ClientWithHeaders, createQueryUtils, type QueryUtils } from './orpc.ts'
