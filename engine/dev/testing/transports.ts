/** Selects all transports, or only the transport in TEST_TRANSPORT, to save time. */
export const selectTransports = <Connect>(transports: Readonly<Record<string, Connect>>) =>
  Object.entries(transports).filter(([name]) => name === (process.env.TEST_TRANSPORT ?? name))
