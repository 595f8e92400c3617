/** A task or a note, and what the database may hold of it. */
export interface Thing {
  title: string
  /** Of a note in its second form a UUID, of all else a number. */
  id: number | string
  /** Texts that may be kept: the one acknowledged last, and that of a later request without an answer. */
  texts: string[]
  /** Likewise what the person’s friend may do with a note. */
  roles: Role[]
  /** Whether it may be absent: until its creation is acknowledged, and once its deletion was sent. */
  mayLack: boolean
  /** The entity tag that was acknowledged last; none after a request without an answer. */
  tag?: string | undefined
}

type Role = 'none' | 'reader' | 'editor'

/** What is shown, or kept, of a thing. */
export interface Row {
  title: string
  text: string
  role?: Role | undefined
}

/** The tasks of one person, or the notes. */
export class Things {
  readonly #known = new Map<string, Thing>()

  /** Adds a thing that is about to be created. */
  add(title: string, text: string): Thing {
    const thing: Thing = { title, id: 0, texts: [text], roles: ['none'], mayLack: true }
    this.#known.set(title, thing)
    return thing
  }

  /** Removes a thing whose deletion was acknowledged. */
  remove({ title }: Thing) {
    this.#known.delete(title)
  }

  /** Those that are there, oldest first. */
  kept() {
    return [...this.#known.values()].filter(({ mayLack }) => !mayLack)
  }

  /** What is wrong with rows that should be all of the person’s. */
  compare(rows: readonly Row[]) {
    const titles = new Set(rows.map(({ title }) => title))
    const isWrong = ({ title, text, role }: Row) => {
      const thing = this.#known.get(title)
      return !thing?.texts.includes(text) || (role !== undefined && !thing.roles.includes(role))
    }
    return {
      /** Acknowledged, and absent. */
      lost: this.kept().filter(({ title }) => !titles.has(title)).length,
      /** Rows beyond the first of a title. */
      doubled: rows.length - titles.size,
      /** Deleted, never sent, or in a state that an acknowledged change has replaced. */
      wrong: rows
        .filter(isWrong)
        .map(({ title, text, role }) => `${title} ${role ?? ''} ${text.slice(0, 60)}`),
    }
  }
}

export type Differences = ReturnType<Things['compare']>

export const isAlike = ({ lost, doubled, wrong }: Differences) => lost + doubled + wrong.length === 0
