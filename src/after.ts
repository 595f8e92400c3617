/** What is there already is not waited for: each wait costs a call about a microsecond. */
export const after = <Value, Next>(
  value: Value,
  next: (value: Awaited<Value>) => Next,
): Next | Promise<Awaited<Next>> =>
  isPromiseLike(value)
    ? (Promise.resolve(value).then(next) as Promise<Awaited<Next>>)
    : next(value as Awaited<Value>)

const isPromiseLike = (value: unknown) => typeof value === 'object' && value !== null && 'then' in value

/** Runs what may fail now or later. */
export function attempt(run: () => unknown, fail: (error: unknown) => void) {
  try {
    const result = run()
    if (isPromiseLike(result)) Promise.resolve(result).catch(fail)
  } catch (error) {
    fail(error)
  }
}
