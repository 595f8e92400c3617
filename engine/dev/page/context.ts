/** Returns the value of a context. Throws if a component is shown outside of the page. */
export function requireContext<Value>(context: Value | undefined) {
  if (!context) throw new Error('The component is not in startPage')
  return context
}
