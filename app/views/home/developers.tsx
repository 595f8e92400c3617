import { Copy } from 'tallystick-dev/page'

/** The ways to call the service, in English as the console: each a sample to copy. Only in development. */
export function Developers() {
  const { origin } = location
  const samples = {
    REST: `curl -X POST ${origin}/api/counter/increment`,
    TypeScript: `import { createClient } from 'tallystick-client'\n\nconst client = createClient('${origin}')\nawait client.counter.increment()`,
    'AI agents': `claude mcp add --transport http tallystick ${origin}/mcp`,
    'Command line': `npx --no-install tallystick --at ${origin} call counter.get`,
  }
  return (
    <>
      <h2>For developers</h2>
      <p>
        Tallystick is a framework for backends in TypeScript. This service is its example: one declaration of
        a procedure answers this page, REST, typed clients, AI agents and the command line. Paste the first
        command into a terminal, and the counter moves here.
      </p>
      <div className="samples">
        {Object.entries(samples).map(([name, text]) => (
          <div key={name} className="sample">
            <h3>{name}</h3>
            <Copy label="Copy" name={`Copy the code for ${name}`} text={text} />
            <pre className="text">
              <code>{text}</code>
            </pre>
          </div>
        ))}
      </div>
    </>
  )
}
