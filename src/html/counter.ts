import { htmlEscape } from 'escape-goat'

export const counterHtml = (count: number) => htmlEscape`<output id="count">${count}</output>`
