import type { Catalogue } from './en.ts'

export const am: Catalogue = {
  reserved: 'እናመሰግናለን፣ {name}። {guests, plural, one {# መቀመጫ ተይዟል} other {# መቀመጫዎች ተይዘዋል}}።',
  refused: 'የቦታ ማስያዣው አንድ ደንብ ይጥሳል',
  nameBlank: 'እባክዎ ስም ያስገቡ።',
  guestsNotWhole: 'እባክዎ የመቀመጫዎችን ብዛት በሙሉ ቁጥር ያስገቡ።',
  guestsTooFew: 'እባክዎ ቢያንስ {min, plural, one {# መቀመጫ} other {# መቀመጫዎች}} ያስይዙ።',
  guestsTooMany: 'እባክዎ ቢበዛ {max, plural, one {# መቀመጫ} other {# መቀመጫዎች}} ያስይዙ።',
}
