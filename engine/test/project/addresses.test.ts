import { describe, expect, test } from 'vitest'

import { findAddresses } from '../../dev/project/addresses.ts'
import { freePort } from '../../dev/testing/postgres.ts'

describe('the addresses of tallystick dev', () => {
  test('are HOST and PORT for the page, and the port after PORT for the service', async () => {
    const port = await freePort()
    const environment = { HOST: '0.0.0.0', PORT: String(port), BASE_URL: 'https://abc.example' }

    expect(await findAddresses(environment, true)).toEqual({
      host: '0.0.0.0',
      port,
      servicePort: port + 1,
      baseUrl: 'https://abc.example',
    })
  })

  test('have the port of BASE_URL if PORT is unset and the host is this machine', async () => {
    const port = await freePort()

    expect(await findAddresses({ BASE_URL: `http://localhost:${port}`, PORT: '' }, false)).toMatchObject({
      host: '127.0.0.1',
      port,
      baseUrl: `http://localhost:${port}`,
    })
  })

  test('are port 80 for http://localhost', async () => {
    // Other programs can use the port, and not every user may.
    const found = await findAddresses({ BASE_URL: 'http://localhost' }, false).catch(String)

    expect(found).toEqual(
      typeof found === 'string'
        ? expect.stringContaining('127.0.0.1:80: ')
        : { host: '127.0.0.1', port: 80, servicePort: undefined, baseUrl: 'http://localhost' },
    )
  })

  test('are free ports for PORT=0, also in the public origin', async () => {
    const { port, servicePort = 0, baseUrl } = await findAddresses({ PORT: '0' }, true)

    expect(port).toBeGreaterThan(0)
    expect(servicePort).toBeGreaterThan(0)
    expect(baseUrl).toBe(`http://localhost:${port}`)
  })

  test.each([
    ['PORT', '70000'],
    ['PORT', 'x'],
    ['BASE_URL', 'abc.example'],
  ])('name a mistake: %s=%s', async (name, value) => {
    await expect(findAddresses({ [name]: value }, true)).rejects.toThrow(`${name}: must be `)
  })
})
