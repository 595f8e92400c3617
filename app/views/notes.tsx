export function Notes() {
  return null
}
