export function Devices() {
  return null
}
