/**
 * Returns whether the page is in development: `tallystick dev`, or a service with the console for developers. The service marks the
 * HTML (engine/html/development.ts), because `npm start` serves the same files in development and in production.
 *
 * @example
 * {isDevelopment() && <Developers />}
 */
export const isDevelopment = () => document.documentElement.hasAttribute('data-development')
