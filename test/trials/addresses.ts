let addresses = 0

/** Returns the header of a request from a new IP address, because the service limits the requests and streams of one address. */
export const fromNewAddress = () => {
  const index = ++addresses
  return { 'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}` }
}
