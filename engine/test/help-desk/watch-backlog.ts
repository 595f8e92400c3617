import type { Client } from './contract.ts'

/** The example of docs/your-own-backend.md. */
export async function watchBacklog(client: Client, one: number, two: number) {
  const updates = await client.live.watch({
    topics: ['backlog'],
    backlog: [{ projectId: one }, { projectId: two, search: 'bug' }],
  })
  for await (const update of updates)
    if (update.topic === 'backlog') console.log(update.of.projectId, update.state?.titles)
}
