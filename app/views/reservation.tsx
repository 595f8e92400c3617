export function Reservation() {
  return null
}
