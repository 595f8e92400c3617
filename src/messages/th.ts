import type { Catalogue } from './en.ts'

export const th: Catalogue = {
  reserved: 'ขอขอบคุณคุณ {name} เราได้จองที่นั่งไว้ให้แล้ว {guests, plural, other {# ที่นั่ง}}',
  refused: 'การจองนี้ไม่เป็นไปตามกฎ',
  nameBlank: 'โปรดกรอกชื่อ',
  guestsNotWhole: 'โปรดระบุจำนวนที่นั่งเป็นจำนวนเต็ม',
  guestsTooFew: 'โปรดจองอย่างน้อย {min, plural, other {# ที่นั่ง}}',
  guestsTooMany: 'โปรดจองไม่เกิน {max, plural, other {# ที่นั่ง}}',
}
