import postgres from 'postgres'

export interface DatasetSize {
  people: number
  /** Number of tasks per owner, and number of notes per owner. Owners are the first `owners` people (default: all). */
  rows: number
  owners?: number
}

/**
 * Inserts people with sessions, tasks and notes. Every fourth note of an owner is shared with two addresses: the next
 * owner, and an address that has no account. The role alternates between `reader` and `editor`.
 */
export async function seed(url: string, { people, rows, owners = people }: DatasetSize) {
  const sql = postgres(url, { max: 1 })
  await sql`
    insert into users (id, name, email, email_verified)
    select 'person-' || n, 'Person ' || n, 'person-' || n || '@example.com', true
    from generate_series(1, ${people}::int) n`
  await sql`
    insert into sessions (id, token, user_id, user_agent, expires_at)
    select 'session-' || n, md5(n::text), 'person-' || n, 'bench', now() + interval '7 days'
    from generate_series(1, ${people}::int) n`
  // Inserts the rows of all owners in chronological order, so that the rows of one person are spread over the table.
  await sql`
    insert into tasks (user_id, title, description, status, created_at, updated_at)
    select 'person-' || p, 'Task ' || n || ' of a list', case when n % 4 > 0 then 'What it is about, in some words' end,
      case when n % 1000 = 0 then 'completed' when n % 3 = 0 then 'pending' else 'in_progress' end, moment, moment
    from generate_series(1, ${rows}::int) n, generate_series(1, ${owners}::int) p,
      lateral (select timestamptz '2026-01-01 12:00:00.123Z' + n * interval '1 minute' moment) _
    order by n, p`
  await sql`
    insert into notes (uuid, user_id, title, body, created_at, updated_at)
    select gen_random_uuid(), 'person-' || p, 'Note ' || n, 'What there is to remember, in some words',
      moment, moment
    from generate_series(1, ${rows}::int) n, generate_series(1, ${owners}::int) p,
      lateral (select timestamptz '2026-01-01 12:00:00.123Z' + n * interval '1 minute' moment) _
    order by n, p`
  await sql`
    insert into note_shares (note_id, email, role)
    select n.id, address, case when row % 8 = 0 then 'editor' else 'reader' end
    from notes n, lateral (values (substr(n.title, 6)::int, substr(n.user_id, 8)::int)) _ (row, owner), lateral (
      values ('person-' || (owner % ${owners}::int + 1) || '@example.com'), ('friend@example.com')
    ) __ (address)
    where row % 4 = 0 and address <> n.user_id || '@example.com'`
  // Runs vacuum and a checkpoint now, because otherwise they would run during the measurement.
  await sql`vacuum analyze`
  await sql`checkpoint`
  await sql.end()
}

/** The e-mail addresses of `count` people, starting with person number `from` (numbers start at 1). */
export const emailsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => `person-${from + index}@example.com`)
