/** Finds the message boundaries in one direction of a PostgreSQL connection. */
export class MessageParser {
  /** True between the first row of a result and the end of this result. */
  inResult = false
  /** Number of results that ended with an error. */
  interruptedResults = 0
  #header: number[] = []
  /** Remaining bytes of the body of the current message. */
  #remaining = 0
  #hasType: boolean

  /** The first message of a client, the startup message, has no type byte. */
  constructor(sender: 'client' | 'server') {
    this.#hasType = sender === 'server'
  }

  /** Parses the next bytes. Returns the offsets at which a message ends. */
  read(bytes: Buffer): Set<number> {
    const ends = new Set<number>()
    for (let at = 0; at < bytes.length;) {
      if (this.#remaining > 0) {
        const count = Math.min(this.#remaining, bytes.length - at)
        this.#remaining -= count
        at += count
      } else this.#readHeader(bytes[at++] ?? 0)
      if (this.#remaining === 0 && this.#header.length === 0) ends.add(at)
    }
    return ends
  }

  /** A header is a type byte and a length of four bytes. The length does not count the type byte. */
  #readHeader(byte: number) {
    this.#header.push(byte)
    if (this.#header.length < (this.#hasType ? 5 : 4)) return
    const header = Buffer.from(this.#header)
    this.#remaining = header.readInt32BE(header.length - 4) - 4
    if (this.#hasType) this.#trackResult(header.toString('latin1', 0, 1))
    this.#hasType = true
    this.#header = []
  }

  /** The message type 'D' is DataRow, and 'E' is ErrorResponse. */
  #trackResult(type: string) {
    if (type === 'E' && this.inResult) this.interruptedResults++
    this.inResult = type === 'D'
  }
}
