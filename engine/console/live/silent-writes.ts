import { listEngineTables } from '../../db/migrate/migration-files.ts'
import type { Recording } from '../../telemetry/recording.ts'
import type { SilentWrite } from './live-contract.ts'

/** A silent write, before the recorder finds the streams that watch its topic. */
type Report = Omit<SilentWrite, 'kind' | 'streams'>

/** A request or a job that wrote, until it is known which topics depend on its tables. */
interface Write extends Omit<Report, 'topic'> {
  /** The topics that the request has announced. */
  announced: ReadonlySet<string>
  /** The topics that are reported. */
  reported: Set<string>
}

/** The number of kept writes: the tables of a topic are known only after a read of the topic. */
const MAX_WRITES = 100

const NAME = String.raw`(?:only\s+)?(?:"[^"]+"\.)?(?:"([^"]+)"|(\w+))`
const READ = new RegExp(String.raw`\b(?:from|join)\s+${NAME}`, 'gi')
const WRITTEN = new RegExp(String.raw`\b(?:insert\s+into|merge\s+into|update|delete\s+from)\s+${NAME}`, 'gi')

/**
 * Finds requests and jobs that wrote to a table of a topic, and did not announce the topic. The tables of a topic are those that a read
 * of the topic selects from. The tables of the engine do not count: for example, every request of a session may extend the session.
 */
export function createSilentWrites(report: (write: Report) => void) {
  // On demand, because only a developer who looks needs the names.
  let engineTables: readonly string[] | undefined
  const tablesByTopic = new Map<string, Set<string>>()
  let writes: Write[] = []
  let announced = new WeakMap<Recording, Set<string>>()

  const tablesIn = (pattern: RegExp, { statements }: Recording) => {
    const ofEngine = (engineTables ??= listEngineTables())
    return new Set(
      statements
        .filter(({ failed }) => !failed)
        .flatMap(({ text }) => [...text.matchAll(pattern)].map(([, quoted, name]) => quoted ?? name ?? ''))
        .filter((table) => !ofEngine.includes(table)),
    )
  }

  /** Whether an announced topic depends on a table, or may depend on it, because no read of the topic is known. */
  const isAnnounced = (table: string, { announced: topics }: Write) =>
    [...topics].some((topic) => tablesByTopic.get(topic)?.has(table) ?? true)

  const check = (write: Write, topic: string, ofTopic: ReadonlySet<string>) => {
    // A list within a parent also reads the parent, whose changes its own topic announces.
    const tables = write.tables.filter((table) => ofTopic.has(table) && !isAnnounced(table, write))
    if (tables.length === 0 || write.reported.has(topic)) return
    write.reported.add(topic)
    const { operation, request, time } = write
    report({ topic, tables, operation, request, time })
  }

  return {
    /** Notices that a request or a job has announced a topic. */
    addAnnounced(recording: Recording, topic: string) {
      const topics = announced.get(recording) ?? new Set()
      announced.set(recording, topics.add(topic))
    },
    /** Learns the tables of a topic from a read of the topic. */
    addRead(topic: string, recording: Recording) {
      const ofTopic = tablesByTopic.get(topic) ?? new Set()
      const before = ofTopic.size
      for (const table of tablesIn(READ, recording)) ofTopic.add(table)
      tablesByTopic.set(topic, ofTopic)
      if (ofTopic.size > before) for (const write of writes) check(write, topic, ofTopic)
    },
    /** Checks a request or a job that has ended. The writes of a failed call are undone. */
    addEnded(recording: Recording) {
      const { id, calls } = recording
      const tables = [...tablesIn(WRITTEN, recording)]
      const hasFailed = calls.some(({ outcome }) => outcome && 'error' in outcome)
      const operation = calls[0]?.operation
      // Requests without an operation are those of development, such as for sample data.
      if (tables.length === 0 || hasFailed || operation === undefined) return
      const write: Write = {
        tables,
        operation,
        request: id,
        time: Date.now(),
        announced: announced.get(recording) ?? new Set(),
        reported: new Set(),
      }
      writes = [...writes, write].slice(-MAX_WRITES)
      for (const [topic, ofTopic] of tablesByTopic) check(write, topic, ofTopic)
    },
    clear() {
      tablesByTopic.clear()
      writes = []
      announced = new WeakMap()
    },
  }
}
