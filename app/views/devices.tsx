import { AgentInstructions } from './devices/agents.tsx'
import { AppList } from './devices/apps.tsx'
import { DeviceList } from './devices/sessions.tsx'

export function Devices() {
  return (
    <>
      <DeviceList />
      <AppList />
      <AgentInstructions />
    </>
  )
}
