import type { Catalogue } from './en.ts'

export const zhHant: Catalogue = {
  reserved: '謝謝您，{name}。已為您預訂 {guests, plural, other {# 個座位}}。',
  refused: '預訂不符合規則',
  nameBlank: '請輸入姓名。',
  guestsNotWhole: '請以整數填寫座位數。',
  guestsTooFew: '請至少預訂 {min, plural, other {# 個座位}}。',
  guestsTooMany: '請最多預訂 {max, plural, other {# 個座位}}。',
}
