import { openFiles } from '../../http/files/index.ts'

// Uploads a file that never ends, until the process is killed.
const files = await openFiles(process.argv[2] ?? '')
let sent = 0
await files.put(
  new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++
      if (sent <= 20) controller.enqueue(Buffer.alloc(65_536))
      if (sent === 20) process.stdout.write('uploading\n')
      return sent < 20 ? undefined : new Promise(() => undefined)
    },
  }),
)
