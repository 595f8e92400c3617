import { useQuery } from '@tanstack/react-query'

import { orpc } from '../api.ts'
import { Loading } from '../components/loaded.tsx'
import { AgentInstructions } from './devices/agents.tsx'
import { AppList, useApps } from './devices/apps.tsx'
import { DeviceList } from './devices/sessions.tsx'
import { TokenList } from './devices/tokens.tsx'

/** The lists appear together, so that no list moves another list. */
export function Devices() {
  const queries = [useQuery(orpc.sessions.list.queryOptions()), useApps()]
  if (queries.some(({ isPending }) => isPending))
    return (
      <section>
        <Loading lines={12} />
      </section>
    )
  return (
    <>
      <DeviceList />
      <AppList />
      <TokenList />
      <AgentInstructions />
    </>
  )
}
