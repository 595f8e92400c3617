import type { Catalogue } from './en.ts'

export const ja: Catalogue = {
  reserved: '{name}様、ありがとうございます。{guests, plural, other {#席}}のご予約を承りました。',
  refused: 'ご予約の内容が規則を満たしていません',
  nameBlank: 'お名前を入力してください。',
  guestsNotWhole: '席数は整数で入力してください。',
  guestsTooFew: '{min, plural, other {#席}}以上でご予約ください。',
  guestsTooMany: '{max, plural, other {#席}}以内でご予約ください。',
}
