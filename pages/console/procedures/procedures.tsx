import { useQuery } from '@tanstack/react-query'

import { proceduresQuery } from '../client.ts'
import { addressOf } from '../location.ts'
import { Loaded } from '../problem.tsx'
import { Procedure } from './procedure.tsx'
import { ProcedureList } from './procedure-list.tsx'

const addressOfProcedure = (operation: string) => addressOf('procedures', operation)

export function Procedures({ operation }: { operation: string }) {
  const query = useQuery(proceduresQuery)
  return (
    <Loaded query={query}>
      {(procedures) => {
        const selected = procedures.find((each) => each.operation === operation)
        return (
          <div className={operation ? 'split has-detail' : 'split'}>
            <ProcedureList procedures={procedures} operation={operation} addressOf={addressOfProcedure} />
            <div className="detail">
              {operation && (
                <a className="back" href={addressOf('procedures')}>
                  ← All procedures
                </a>
              )}
              {selected && <Procedure key={operation} procedure={selected} />}
              {operation && !selected && (
                <section>
                  <p>This service has no procedure {operation}.</p>
                </section>
              )}
              {!operation && (
                <section className="empty">
                  <p className="muted">
                    Select a procedure to see its access, errors and schemas, and to call the procedure.
                  </p>
                </section>
              )}
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}
