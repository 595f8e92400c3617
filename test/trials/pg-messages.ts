/** Where the messages of one direction of a PostgreSQL connection begin and end. */
export class Messages {
  /** Whether rows of a result have been sent, and the end of the result has not. */
  inResult = false
  /** Errors that came instead of the end of a result. */
  brokenResults = 0
  #head: number[] = []
  /** Bytes of the current message that are still to come after its head. */
  #left = 0
  #hasType: boolean

  /** The first message of a client, the startup message, has no type byte. */
  constructor(sender: 'client' | 'server') {
    this.#hasType = sender === 'server'
  }

  /** Reads the next bytes. Returns the offsets at which a message ends. */
  read(bytes: Buffer): Set<number> {
    const ends = new Set<number>()
    for (let at = 0; at < bytes.length;) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at)
        this.#left -= taken
        at += taken
      } else this.#readHead(bytes[at++] ?? 0)
      if (this.#left === 0 && this.#head.length === 0) ends.add(at)
    }
    return ends
  }

  /** A head is a type byte, and in four bytes the length of the message without the type byte. */
  #readHead(byte: number) {
    this.#head.push(byte)
    if (this.#head.length < (this.#hasType ? 5 : 4)) return
    const head = Buffer.from(this.#head)
    this.#left = head.readInt32BE(head.length - 4) - 4
    if (this.#hasType) this.#note(head.toString('latin1', 0, 1))
    this.#hasType = true
    this.#head = []
  }

  /** 'D' is a row, 'E' an error. */
  #note(type: string) {
    if (type === 'E' && this.inResult) this.brokenResults++
    this.inResult = type === 'D'
  }
}
