import type { Page, Server } from './en.ts'

export const server: Server = {
  reserved:
    'धन्यवाद, {name}। {guests, plural, one {# सीट आरक्षित कर दी गई है} other {# सीटें आरक्षित कर दी गई हैं}}।',
  refused: 'यह आरक्षण किसी नियम का उल्लंघन करता है',
  nameBlank: 'कृपया नाम दर्ज करें।',
  guestsNotWhole: 'कृपया सीटों की संख्या पूर्णांक में दर्ज करें।',
  guestsTooFew: 'कृपया कम से कम {min, plural, one {# सीट} other {# सीटें}} आरक्षित करें।',
  guestsTooMany: 'कृपया अधिक से अधिक {max, plural, one {# सीट} other {# सीटें}} आरक्षित करें।',
}

export const page: Page = {
  counter: 'काउंटर',
  tasks: 'कार्य',
  notes: 'नोट',
  reservation: 'आरक्षण',

  introduction: 'Tallystick एक साझा काउंटर, आपके कार्य और वे नोट रखता है जिन्हें आप दूसरे लोगों के साथ साझा करते हैं।',
  introductionCallers:
    'प्रोग्राम और AI एजेंट काउंटर, आपके कार्यों और आपके नोट का उपयोग उतना ही कर सकते हैं जितनी आप अनुमति देते हैं।',
  introductionAccess: 'आप तय करते हैं कि किन ऐप को आपके डेटा का ऐक्सेस मिले, और आप ऐक्सेस कभी भी रद्द कर सकते हैं।',
  openTasks: 'खुले कार्य',
  nothingOpen: 'कुछ भी खुला नहीं है।',
  sharedWithYou: 'आपके साथ साझा',
  nothingShared: 'कोई आपके साथ नोट साझा नहीं करता।',
  recentAccess: 'हाल में सक्रिय',
  developers: 'डेवलपर के लिए',
  agents: 'AI एजेंट',
  commandLine: 'कमांड लाइन',
  increment: 'बढ़ाएँ',
  decrement: 'घटाएँ',
  resetCounter: 'काउंटर रीसेट करें',
  newValue: 'नया मान',
  setCounter: 'काउंटर सेट करें',

  newTask: 'नया कार्य',
  addTask: 'कार्य जोड़ें',
  filter: 'दिखाएँ',
  allTasks: 'सभी',
  statusPending: 'बाकी',
  statusInProgress: 'जारी',
  done: 'पूरा',
  taskCount: '{count, plural, one {# कार्य} other {# कार्य}}',
  noTasks: 'आपका कोई कार्य नहीं है। अपना पहला कार्य ऊपर लिखें।',
  noMatchingTasks: 'इस स्थिति का कोई कार्य नहीं है।',
  title: 'शीर्षक',
  description: 'विवरण',
  status: 'स्थिति',
  tasksDeleted: '{count, plural, one {# कार्य हटाया गया।} other {# कार्य हटाए गए।}}',
  deleteAllTasks: 'सभी कार्य हटाएँ',
  deleteAllTasksText: 'आपके सभी कार्य आपके सभी डिवाइस से हमेशा के लिए हटा दिए जाएँगे।',
  taskChangedElsewhere: 'यह कार्य कहीं और बदला गया है। आप कौन-सा संस्करण रखना चाहते हैं?',
  taskDeletedElsewhere: 'यह कार्य कहीं और हटाया गया है। आप अपना संस्करण नए कार्य के रूप में सहेज सकते हैं।',
  saveAsNewTask: 'नए कार्य के रूप में सहेजें',

  newNote: 'नया नोट',
  body: 'टेक्स्ट',
  saveNote: 'नोट सहेजें',
  saveAsNewNote: 'नए नोट के रूप में सहेजें',
  noNotes: 'आपका कोई नोट नहीं है।',
  sharedWith: '{count, plural, =0 {साझा नहीं किया गया} one {# व्यक्ति के साथ साझा} other {# लोगों के साथ साझा}}',
  sharedToRead: 'पढ़ने के लिए आपके साथ साझा',
  sharedToEdit: 'संपादन के लिए आपके साथ साझा',
  share: 'साझा करें',
  shareWith: 'इनके साथ साझा करें',
  role: 'भूमिका',
  reader: 'पाठक',
  editor: 'संपादक',
  shareNote: 'नोट साझा करें',
  shareExplanation:
    'पाठक नोट देख सकते हैं, और संपादक नोट बदल भी सकते हैं। बिना खाते वाले पते को ऐक्सेस तब मिलता है जब उसका मालिक पहली बार साइन इन करता है।',
  shared: '{email} के साथ साझा किया गया।',
  peopleWithAccess: 'ऐक्सेस वाले लोग',
  roleOf: '{email} की भूमिका',
  removeAccess: 'ऐक्सेस हटाएँ',
  roleChanged: '{email} की भूमिका बदल गई है।',
  accessRemoved: '{email} के पास अब ऐक्सेस नहीं है।',
  ownAddress: 'यह आपका अपना पता है।',
  deleteNote: 'नोट हटाएँ',
  deleteNoteText:
    '{count, plural, =0 {नोट हमेशा के लिए हटा दिया जाएगा।} one {नोट हमेशा के लिए हटा दिया जाएगा, उस # व्यक्ति के लिए भी जिसके साथ आप इसे साझा करते हैं।} other {नोट हमेशा के लिए हटा दिया जाएगा, उन # लोगों के लिए भी जिनके साथ आप इसे साझा करते हैं।}}',
  leaveNote: 'नोट छोड़ें',
  leaveNoteText: 'आपका ऐक्सेस खत्म हो जाएगा, जब तक लेखक नोट को आपके साथ फिर से साझा नहीं करता।',
  noteChangedElsewhere: 'यह नोट कहीं और बदला गया है। आप कौन-सा संस्करण रखना चाहते हैं?',
  noteGone: 'यह नोट हटा दिया गया है या अब आपके साथ साझा नहीं है। आप अपना टेक्स्ट नए नोट के रूप में सहेज सकते हैं।',
  noteNotEditable: 'आप अब यह नोट नहीं बदल सकते। आप अपना टेक्स्ट नए नोट के रूप में सहेज सकते हैं।',

  scopeRead: 'आपके कार्य, नोट और खाता देखता है',
  scopeWrite: 'आपके कार्य और नोट जोड़ता, बदलता, साझा करता और हटाता है',

  exportExplanation:
    'अपने कार्य, नोट, डिवाइस, ऐप और गतिविधि को JSON फ़ाइल के रूप में डाउनलोड करें। फ़ाइल में वे सबसे नए नोट भी सूचीबद्ध हैं जो दूसरे लोग आपके साथ साझा करते हैं।',
  deleteAccountExplanation:
    'इससे आपके कार्य और नोट हट जाएँगे, वे नोट भी जिन्हें आप दूसरे लोगों के साथ साझा करते हैं, और आप हर जगह साइन आउट हो जाएँगे। इसे पूर्ववत नहीं किया जा सकता। दूसरे लोगों के नोट आपके पते के साथ साझा बने रहते हैं।',

  reservationExplanation: 'भाषाओं का प्रदर्शन: कुछ भी सहेजा या बुक नहीं किया जाता।',
  guestName: 'नाम',
  guests: 'मेहमान',
  answerLanguage: 'उत्तर की भाषा',
  reserve: 'आरक्षित करें',

  CONFLICT: 'काउंटर अपनी सीमा पर है।',
}
