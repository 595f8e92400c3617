import type { RecordedRequest } from '../../../engine/console/requests/requests-contract.ts'
import { callerOf, durationOf } from './recording.ts'

/** From fast to slow. */
const durations = ['Below 100 ms', '100 ms to 1 s', 'From 1 s', 'Streams'] as const

function rangeOf(request: RecordedRequest) {
  const duration = durationOf(request) ?? Infinity
  return durations[[100, 1000, Infinity].findIndex((limit) => duration < limit)] ?? 'Streams'
}

/** What the requests can be filtered by. Each function returns the value of a request. */
const filters = {
  status: {
    label: 'Status',
    all: 'All statuses',
    valueOf: ({ status, outcome, isStream }: RecordedRequest) =>
      outcome ?? (status === null ? (isStream ? 'stream' : 'closed') : `${Math.floor(status / 100)}xx`),
  },
  person: {
    label: 'Person',
    all: 'All people',
    valueOf: callerOf,
  },
  operation: {
    label: 'Operation',
    all: 'All operations',
    valueOf: ({ operation, method, path }: RecordedRequest) => operation ?? `${method} ${path}`,
  },
  duration: {
    label: 'Duration',
    all: 'All durations',
    valueOf: rangeOf,
  },
}
type Name = keyof typeof filters

/** The chosen values. Empty for all. */
export type Choice = Record<Name, string>

export const nothingChosen: Choice = { status: '', person: '', operation: '', duration: '' }

const isName = (name: string): name is Name => Object.hasOwn(filters, name)
export const filterNames = Object.keys(filters).filter(isName)

export const isChosen = (request: RecordedRequest, choice: Choice) =>
  filterNames.every((name) => choice[name] === '' || filters[name].valueOf(request) === choice[name])

/** Durations by their length, and other values by their text. */
const compare = (a: string, b: string) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1)
const rankOf = (value: string) => durations.findIndex((each) => each === value)

interface Props {
  requests: readonly RecordedRequest[]
  choice: Choice
  onChange: (choice: Choice) => void
}

/** Selects one status class, person and operation of the recorded requests. */
export const Choices = ({ requests, choice, onChange }: Props) => (
  <div className="row head choices">
    {filterNames.map((name) => {
      const { label, all, valueOf } = filters[name]
      const values = new Set([...requests.map(valueOf), choice[name]])
      values.delete('')
      return (
        <select
          key={name}
          aria-label={label}
          value={choice[name]}
          onChange={({ target }) => {
            onChange({ ...choice, [name]: target.value })
          }}
        >
          <option value="">{all}</option>
          {[...values].sort(compare).map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      )
    })}
  </div>
)
