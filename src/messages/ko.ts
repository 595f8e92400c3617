import type { Catalogue } from './en.ts'

export const ko: Catalogue = {
  reserved: '{name} 님, 감사합니다. {guests, plural, other {#석}}이 예약되었습니다.',
  refused: '예약 내용이 규칙에 맞지 않습니다',
  nameBlank: '이름을 입력해 주세요.',
  guestsNotWhole: '좌석 수를 정수로 입력해 주세요.',
  guestsTooFew: '좌석은 {min, plural, other {#석}} 이상 예약해 주세요.',
  guestsTooMany: '좌석은 최대 {max, plural, other {#석}}까지만 예약해 주세요.',
}
