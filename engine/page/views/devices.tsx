import { AgentInstructions } from './devices/agents.tsx'
import { AppList } from './devices/apps.tsx'
import { DeviceList } from './devices/sessions.tsx'
import { TokenList } from './devices/tokens.tsx'

export function Devices() {
  return (
    <>
      <DeviceList />
      <AppList />
      <TokenList />
      <AgentInstructions />
    </>
  )
}
