import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test, vi } from 'vitest'

import { settingsWithAddress } from '../fixtures/bind-service.ts'
import { newEmail, startService } from '../fixtures/help-desk.ts'
import { clientInfo } from '../fixtures/mcp-agent.ts'
import { PATIENCE } from '../fixtures/patience.ts'

const service = await startService(await settingsWithAddress())

const uriOf = (projectId: number) => `help-desk://backlog/${projectId}`

/** Creates two projects, and connects an agent of a member of both. */
async function createAgent() {
  const owner = await service.person()
  const email = newEmail()
  const create = async (name: string) => {
    const { id } = await owner.projects.create({ name })
    await owner.projects.invite({ id, email })
    return id
  }
  const [one, two] = [await create('One'), await create('Two')]
  const member = await service.person(email)
  const { token } = await member.tokens.create({ label: 'Agent', scopes: ['read'], audience: 'mcp' })
  const client = new McpClient(clientInfo, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${service.origin}/mcp`), { requestInit: { headers } }),
  )
  onTestFinished(() => client.close())
  const updated: string[] = []
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void updated.push(params.uri),
  )
  const read = async (uri: string) => {
    const { contents } = await client.readResource({ uri })
    const [content] = contents
    return content && 'text' in content ? (JSON.parse(content.text) as unknown) : undefined
  }
  return { owner, email, one, two, client, updated, read }
}

test('a topic of parents is a template of resources', async () => {
  const { client } = await createAgent()

  const { resourceTemplates } = await client.listResourceTemplates()
  const { resources } = await client.listResources()

  expect(resourceTemplates).toEqual([
    {
      name: 'backlog',
      uriTemplate: 'help-desk://backlog/{projectId}',
      description: '',
      mimeType: 'application/json',
    },
  ])
  expect(resources.map(({ name }) => name)).not.toContain('backlog')
})

test('a resource of a parent has the content of the parent, or the error of the procedure', async () => {
  const { owner, one, read } = await createAgent()
  await owner.tickets.create({ projectId: one, title: 'First' })
  const { id: foreign } = await (await service.person()).projects.create({ name: 'Foreign' })

  expect(await read(uriOf(one))).toEqual({ titles: ['First'], total: 1 })
  await expect(read(uriOf(foreign))).rejects.toThrow('There is no such project')
  await expect(read('help-desk://backlog/x')).rejects.toThrow('Input validation failed')
})

test('a subscription notifies of the parent that changes, and of the end of a membership', async () => {
  const { owner, email, one, two, client, updated, read } = await createAgent()

  const { honoredFilter } = await client.listen({
    resourceSubscriptions: [uriOf(one), uriOf(two), 'help-desk://backlog/x', 'help-desk://backlog'],
  })
  expect(honoredFilter).toEqual({ resourceSubscriptions: [uriOf(one), uriOf(two)] })

  await owner.tickets.create({ projectId: two, title: 'Two' })
  await vi.waitFor(() => {
    expect(updated).toEqual([uriOf(two)])
  }, PATIENCE)
  expect(await read(uriOf(two))).toEqual({ titles: ['Two'], total: 1 })
  await owner.projects.exclude({ id: one, email })
  await vi.waitFor(() => {
    expect(updated).toEqual([uriOf(two), uriOf(one)])
  }, PATIENCE)
  await expect(read(uriOf(one))).rejects.toThrow('There is no such project')
})
