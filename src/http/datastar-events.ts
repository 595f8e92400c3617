import { ServerSentEventGenerator } from '@starfederation/datastar-sdk/abstractServerSentEventGenerator'

export const EVENT_STREAM = 'text/event-stream'

/** An update of a Datastar page: the new inner HTML of one element, and new values of signals. */
export interface Patch {
  selector: string
  html: string
  signals: Record<string, unknown>
}

/** Returns the lines of each event. The class of the package writes them to a stream, but answers here are complete. */
class EventWriter extends ServerSentEventGenerator {
  static readonly instance = new EventWriter()

  close() {
    throw new Error('There is no stream to close')
  }
}

const events = EventWriter.instance

export const patchEvents = ({ selector, html, signals }: Patch) =>
  [
    ...events.patchElements(html, { selector, mode: 'inner' }),
    ...events.patchSignals(JSON.stringify(signals)),
  ].join('')
