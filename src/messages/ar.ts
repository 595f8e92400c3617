import type { Catalogue } from './en.ts'

export const ar: Catalogue = {
  reserved:
    'شكرًا لك، {name}. {guests, plural, zero {لم يتم حجز أي مقعد} one {تم حجز مقعد واحد} two {تم حجز مقعدين} few {تم حجز # مقاعد} many {تم حجز # مقعدًا} other {تم حجز # مقعد}}.',
  refused: 'الحجز يخالف إحدى القواعد',
  nameBlank: 'يُرجى إدخال الاسم.',
  guestsNotWhole: 'يُرجى إدخال عدد صحيح من المقاعد.',
  guestsTooFew:
    'يُرجى حجز {min, plural, zero {# مقعد} one {مقعد واحد} two {مقعدين} few {# مقاعد} many {# مقعدًا} other {# مقعد}} على الأقل.',
  guestsTooMany:
    'يُرجى حجز {max, plural, zero {# مقعد} one {مقعد واحد} two {مقعدين} few {# مقاعد} many {# مقعدًا} other {# مقعد}} على الأكثر.',
}
