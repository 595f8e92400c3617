import type { Catalogue } from './en.ts'

export const fa: Catalogue = {
  reserved: 'متشکریم، {name}. {guests, plural, one {# صندلی رزرو شد} other {# صندلی رزرو شد}}.',
  refused: 'این رزرو با یکی از قواعد مغایرت دارد',
  nameBlank: 'لطفاً نام را وارد کنید.',
  guestsNotWhole: 'لطفاً تعداد صندلی‌ها را به‌صورت عدد صحیح وارد کنید.',
  guestsTooFew: 'لطفاً حداقل {min, plural, one {# صندلی} other {# صندلی}} رزرو کنید.',
  guestsTooMany: 'لطفاً حداکثر {max, plural, one {# صندلی} other {# صندلی}} رزرو کنید.',
}
