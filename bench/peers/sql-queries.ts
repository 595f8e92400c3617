// SQL statements of the lean peers, written by hand. Times are integers, because `pg` converts a timestamp slowly.

const ACTIVE_SESSION = `s.expires_at > now() and s.client_id is null
  and (u.banned is not true or u.ban_expires < now())`

export const FIND_SESSION = `
  select u.id, u.email from sessions s join users u on u.id = s.user_id
  where s.token = $1 and ${ACTIVE_SESSION}`

export const ADD_SESSION = `
  insert into sessions (id, token, user_id, expires_at)
  select $1, $2, id, now() + interval '7 days' from users where email = $3`

const TASK_COLUMNS = `t.id, t.user_id as "userId", t.title, t.description, t.status,
  floor(extract(epoch from t.created_at))::int as "createdAt",
  floor(extract(epoch from t.updated_at))::int as "updatedAt"`

const TASKS_IN_ORDER = 'order by t.created_at desc, t.id desc limit $2'

export const LIST_TASKS = `select ${TASK_COLUMNS} from tasks t where t.user_id = $1 ${TASKS_IN_ORDER}`

export const LIST_TASKS_BY_STATUS = `
  select ${TASK_COLUMNS} from tasks t where t.user_id = $1 and t.status = $3 ${TASKS_IN_ORDER}`

export const ADD_TASK = `
  insert into tasks as t (user_id, title, description) values ($1, $2, $3) returning ${TASK_COLUMNS}`

export const LIST_NOTES = `
  select n.uuid, n.user_id as "userId", n.title, n.body, mine.role,
    floor(extract(epoch from n.updated_at) * 1000)::float8 as "updatedAt",
    (select count(*)::int from note_shares where note_id = n.id) as "sharedWith"
  from notes n left join note_shares mine on mine.note_id = n.id and mine.email = $2
  where n.user_id = $1 or n.id = any(array(select note_id from note_shares where email = $2))
  order by n.created_at desc, n.id desc limit $3`

export const READ_COUNTER = 'select count from counter'

export const INCREMENT_COUNTER = 'update counter set count = count + 1 returning count'
