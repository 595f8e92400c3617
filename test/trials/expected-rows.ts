/** A task or a note, and its possible states in the database. */
export interface ExpectedRow {
  title: string
  /** A UUID for a note in the second form (docs/glossary.md describes the forms); otherwise a number. */
  id: number | string
  /** Possible texts: the last acknowledged text, and the text of a later request without a response. */
  texts: string[]
  /** Possible roles of the actor's friend: the last acknowledged role, and the role of a later unanswered request. */
  roles: Role[]
  /** True until the creation is acknowledged, and after the deletion was sent. */
  mayBeAbsent: boolean
  /** The last acknowledged entity tag; `undefined` after a request without a response. */
  tag?: string | undefined
}

type Role = 'none' | 'reader' | 'editor'

/** A row of a response or of the database. */
export interface ActualRow {
  title: string
  text: string
  role?: Role | undefined
}

/** The expected tasks of one actor, or the expected notes of one actor. Titles are unique. */
export class ExpectedRows {
  readonly #rows = new Map<string, ExpectedRow>()

  /** Adds a row. Call this method before sending the request that creates the row. */
  add(title: string, text: string): ExpectedRow {
    const row: ExpectedRow = { title, id: 0, texts: [text], roles: ['none'], mayBeAbsent: true }
    this.#rows.set(title, row)
    return row
  }

  /** Removes a row. Call this method after the service has acknowledged the deletion. */
  remove({ title }: ExpectedRow) {
    this.#rows.delete(title)
  }

  /** Returns the rows that must exist, oldest first. */
  present() {
    return [...this.#rows.values()].filter(({ mayBeAbsent }) => !mayBeAbsent)
  }

  /** Compares the expected rows with all rows of the actor in a response or in the database. */
  compare(rows: readonly ActualRow[]) {
    const titles = new Set(rows.map(({ title }) => title))
    const isWrong = ({ title, text, role }: ActualRow) => {
      const expected = this.#rows.get(title)
      return !expected?.texts.includes(text) || (role !== undefined && !expected.roles.includes(role))
    }
    return {
      /** Number of acknowledged rows that are absent. */
      lost: this.present().filter(({ title }) => !titles.has(title)).length,
      /** Number of rows that repeat the title of an earlier row. */
      doubled: rows.length - titles.size,
      /** Descriptions of unexpected rows: deleted rows, unknown rows, and rows in an outdated state. */
      wrong: rows
        .filter(isWrong)
        .map(({ title, text, role }) => `${title} ${role ?? ''} ${text.slice(0, 60)}`),
    }
  }
}

export type Differences = ReturnType<ExpectedRows['compare']>

export const isEmpty = ({ lost, doubled, wrong }: Differences) => lost + doubled + wrong.length === 0
