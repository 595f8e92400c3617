import type { Catalogue } from './en.ts'

export const zhHans: Catalogue = {
  reserved: '谢谢您，{name}。已为您预订 {guests, plural, other {# 个座位}}。',
  refused: '预订不符合规则',
  nameBlank: '请输入姓名。',
  guestsNotWhole: '请以整数填写座位数。',
  guestsTooFew: '请至少预订 {min, plural, other {# 个座位}}。',
  guestsTooMany: '请最多预订 {max, plural, other {# 个座位}}。',
}
