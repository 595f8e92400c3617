/**
 * Marks the HTML of a page as served in development. `isDevelopment` of engine/dev/page/ reads the mark: a built page cannot know
 * whether its service is in production.
 */
export const markDevelopment = (html: string) => html.replace('<html', '<html data-development')
