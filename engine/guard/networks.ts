import ipaddr from 'ipaddr.js'

const { IPv6 } = ipaddr

/**
 * Returns the network by which calls are counted: the /64 of an IPv6 address (one household or one machine), or the
 * IPv4 address itself.
 */
export const networkOf = (address: string | undefined) =>
  address?.includes(':') ? `${IPv6.networkAddressFromCIDR(`${address}/64`).toString()}/64` : address

/**
 * The limit of an IPv6 /48, as a multiple of the limit of a /64. One customer may have a /48, which contains 65,536 /64
 * networks. Without this limit, the customer could evade the limit of a /64 by using other /64 networks.
 */
export const BLOCK_FACTOR = 16

/** Returns the /48 of a network from `networkOf`. Undefined for an IPv4 address. */
export const blockOf = (network: string) => {
  const [, address] = /^([\da-f:]+)\/64$/.exec(network) ?? []
  return address === undefined ? undefined : `${IPv6.networkAddressFromCIDR(`${address}/48`).toString()}/48`
}
