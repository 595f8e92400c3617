/** The texts of the frequent statuses. */
const texts: Partial<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  423: 'Locked',
  428: 'Precondition Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** The classes of the outcomes of an attempt of a job. */
const outcomes = { completed: 'succeeded', failed: 'failed', dead: 'failed', released: 'closed' }

interface Props {
  status: number | null
  outcome?: keyof typeof outcomes | null
  /** Whether the answer is a stream, which ends when its reader leaves. */
  isStream?: boolean
  /** Beside the status. By default, the text of the status. */
  text?: string | undefined
}

/** A status with its text, or the outcome of an attempt. Null for a request that the client closed before the answer. */
export function Status({ status, outcome, isStream, text }: Props) {
  if (outcome) return <span className={`status ${outcomes[outcome]}`}>{outcome}</span>
  if (status === null)
    return isStream ? (
      <span className="status succeeded">stream</span>
    ) : (
      <span className="status closed">closed</span>
    )
  const kind = status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'succeeded'
  return (
    <span className={`status ${kind}`}>
      {status} <span className="status-text">{text ?? texts[status]}</span>
    </span>
  )
}
