import type { Rows } from '../../db/rows/index.ts'
import { createOperations, type ViewContext } from './operations.ts'

/**
 * Creates the handler of a further list, beside the `page` of the resource: of a select (`listOf`), or of the rows of another
 * table. `list` is the name of the list in the output, `total` the name of the number of all rows. The input can have `limit`,
 * `cursor`, `q`, `order`, the filters, and the id of the parent.
 *
 * @example
 * busiest: os.busiest.handler(pageOf(readerList, ({ name, loans }) => ({ name, loans }), 'readers', 'total'))
 */
export const pageOf = <
  Row extends { id: string | number },
  View,
  List extends string,
  Role extends string,
  Total extends string = never,
>(
  rows: Rows<Row, never, never, Role>,
  view: (row: Omit<Row, 'version'>, viewer: ViewContext<never>) => View,
  list: List,
  total?: Total,
) => createOperations(rows, {}, view, () => undefined).page(list, total)
