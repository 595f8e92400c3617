import { useState } from 'react'

import { AuditTrail } from './people/trail.tsx'
import { PersonList } from './people/list.tsx'

/** The administration: all accounts, and the audit trail. */
export function People() {
  const [filter, setFilter] = useState<string>()
  return (
    <>
      <PersonList onShowTrail={setFilter} />
      <AuditTrail key={filter} filter={filter} onFilter={setFilter} />
    </>
  )
}
