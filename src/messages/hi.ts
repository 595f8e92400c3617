import type { Catalogue } from './en.ts'

export const hi: Catalogue = {
  reserved:
    'धन्यवाद, {name}। {guests, plural, one {# सीट आरक्षित कर दी गई है} other {# सीटें आरक्षित कर दी गई हैं}}।',
  refused: 'यह आरक्षण किसी नियम का उल्लंघन करता है',
  nameBlank: 'कृपया नाम दर्ज करें।',
  guestsNotWhole: 'कृपया सीटों की संख्या पूर्णांक में दर्ज करें।',
  guestsTooFew: 'कृपया कम से कम {min, plural, one {# सीट} other {# सीटें}} आरक्षित करें।',
  guestsTooMany: 'कृपया अधिक से अधिक {max, plural, one {# सीट} other {# सीटें}} आरक्षित करें।',
}
