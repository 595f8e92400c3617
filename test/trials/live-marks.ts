import type { LiveUpdate, TopicName } from '../../contract/index.ts'

/** One version of an object: a row, a session, or the counter. Each write of an object has the next version. */
export interface Mark {
  key: string
  version: number
}

interface MarkedObject {
  /** The last version that was sent to the service. */
  issued: number
  /** Acknowledged versions in ascending order, with the time of the response. */
  acknowledged: { version: number; at: number }[]
  /** The people who may see the object, each with the time from which the person must see the object. `all`: everyone. */
  audience: Map<string, number>
  isDeletionIssued: boolean
  deletedAt: number
}

const ALL = 'all'

/** The text that identifies a version in the title of a row. */
export const textOf = ({ key, version }: Mark) => `${key}#${version}`

/** Records all writes of the trial. Times are in milliseconds since the start of the process. */
export class Marks {
  readonly #objects = new Map<string, MarkedObject>()

  /** Returns the next version of an object. Creates the object if the key is new. */
  issue(key: string, person = ALL): Mark {
    const object = this.#objects.get(key) ?? this.#create(key, person)
    return { key, version: ++object.issued }
  }

  acknowledge({ key, version }: Mark) {
    const object = this.#get(key)
    const last = object.acknowledged.at(-1)?.version ?? 0
    if (version > last) object.acknowledged.push({ version, at: performance.now() })
  }

  /** From now on, the person may see the object. */
  issueShare(key: string, person: string) {
    const { audience } = this.#get(key)
    audience.set(person, audience.get(person) ?? Infinity)
  }

  acknowledgeShare(key: string, person: string) {
    const { audience } = this.#get(key)
    audience.set(person, Math.min(audience.get(person) ?? Infinity, performance.now()))
  }

  issueDeletion(key: string) {
    this.#get(key).isDeletionIssued = true
  }

  acknowledgeDeletion(key: string) {
    const object = this.#get(key)
    object.deletedAt = Math.min(object.deletedAt, performance.now())
  }

  /** Adds an object that the service created. Only the response contains the key of such an object, for example of a session. */
  adopt(key: string, person: string) {
    const object = this.#objects.get(key) ?? this.#create(key, person)
    object.issued = Math.max(object.issued, 1)
  }

  /** Returns why a person must not see a mark in a state that was read after `since`. */
  findFault({ key, version }: Mark, person: string, since: number) {
    const object = this.#objects.get(key)
    if (!object) return 'was never written'
    const { issued, acknowledged, audience, deletedAt } = object
    if (!audience.has(ALL) && !audience.has(person)) return `belongs to another person than ${person}`
    if (version > issued) return `has a version above ${issued}`
    if (deletedAt < since) return 'was deleted before the request'
    const oldest = acknowledged.findLast(({ at }) => at < since)?.version ?? 0
    return version < oldest ? `is older than ${oldest}, which was committed before the request` : undefined
  }

  /** Whether a state that was read after `since` must contain the object. */
  isRequired(key: string, person: string, since: number) {
    const { acknowledged, audience, isDeletionIssued } = this.#get(key)
    const from = Math.min(audience.get(ALL) ?? Infinity, audience.get(person) ?? Infinity)
    return !isDeletionIssued && from < since && acknowledged.some(({ at }) => at < since)
  }

  isDeletionIssued = (key: string) => this.#get(key).isDeletionIssued

  keysOf(topic: TopicName) {
    return [...this.#objects.keys()].filter((key) => topicOf(key) === topic)
  }

  #create(key: string, person: string) {
    const audience = new Map([[person, performance.now()]])
    const object = { issued: 0, acknowledged: [], audience, isDeletionIssued: false, deletedAt: Infinity }
    this.#objects.set(key, object)
    return object
  }

  #get(key: string) {
    const object = this.#objects.get(key)
    if (!object) throw new Error(`There is no object ${key}`)
    return object
  }
}

/** A key begins with its topic. */
const topicOf = (key: string) => key.split(' ', 1)[0]

/** Returns the marks in a state. */
export function marksOf(update: LiveUpdate): Mark[] {
  switch (update.topic) {
    case 'counter':
      return [{ key: 'counter', version: update.state.count }]
    case 'tasks':
      return update.state.tasks.map(({ title }) => parseMark(title))
    case 'notes':
      return update.state.notes.map(({ title }) => parseMark(title))
    case 'sessions':
      return update.state.sessions.map(({ token }) => ({ key: `sessions ${token}`, version: 1 }))
  }
}

function parseMark(text: string): Mark {
  const [key = '', version] = text.split('#')
  return { key, version: Number(version) }
}

/** Checks the states that one stream of a person shows. */
export class StateChecker {
  readonly faults: string[] = []
  readonly #marks
  readonly #person
  readonly #shown = new Map<string, number>()
  readonly #gone = new Set<string>()

  constructor(marks: Marks, person: string) {
    this.#marks = marks
    this.#person = person
  }

  /** Checks a state that the service read after `since`. */
  check(topic: TopicName, state: readonly Mark[], since: number) {
    const keys = new Set(state.map(({ key }) => key))
    for (const mark of state) {
      const { key, version } = mark
      if (topic === 'sessions') this.#marks.adopt(key, this.#person)
      const fault = this.#marks.findFault(mark, this.#person, since) ?? this.#findOlder(mark)
      if (fault !== undefined) this.faults.push(`${key} in version ${version} ${fault}`)
      this.#shown.set(key, version)
    }
    for (const key of this.#marks.keysOf(topic)) {
      if (keys.has(key)) continue
      if (this.#marks.isRequired(key, this.#person, since)) this.faults.push(`${key} is missing`)
      if (!this.#shown.has(key)) continue
      if (!this.#marks.isDeletionIssued(key)) this.faults.push(`${key} disappeared`)
      this.#gone.add(key)
    }
  }

  #findOlder({ key, version }: Mark) {
    if (this.#gone.has(key)) return 'appeared again'
    const shown = this.#shown.get(key) ?? 0
    return version < shown ? `was shown after version ${shown}` : undefined
  }
}
