import ipaddr from 'ipaddr.js'

/** Returns whether a host name or an address means this machine only. An IPv6 address can have brackets, as in a URL. */
export function isLoopback(host: string) {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  return ipaddr.isValid(name)
    ? ipaddr.process(name).range() === 'loopback'
    : name === 'localhost' || name.endsWith('.localhost')
}
