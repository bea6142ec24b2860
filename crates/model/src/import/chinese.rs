//! Whether bytes are unmistakably Chinese in GB 18030.
//!
//! Almost any bytes of another encoding decode as GB 18030 too, into characters nobody writes: that a file
//! decodes proves nothing. What it decodes to does: half of the characters of a Chinese text are among its
//! few hundred most frequent, and of those of a text in Big5, EUC-KR or Shift JIS read so one in ten is.

use std::collections::HashSet;

use zeroize::Zeroizing;

use super::Encoding;

/// Different frequent characters that make a text Chinese.
const FREQUENT_MIN: usize = 3;

/// Words of files of codes, one of which is enough.
const WORDS: [&str; 12] =
    ["卡号", "卡密", "密码", "账号", "帐号", "序列号", "兑换码", "激活码", "充值", "有效期", "会员", "面值"];

/// The most frequent characters of written Chinese, and those of files of codes.
const FREQUENT: &str = "\
    的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方\
    多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明\
    性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位\
    次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感\
    建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色\
    路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运六七八九百千号码密卡账帐户充值兑换激链效\
    季续费优惠券票购买客服邮箱序列元折货单请输登录查验证支付商店铺游戏点级版网址视频音乐腾讯爱奇艺";

/// Whether `bytes` decode without a fault to what is Chinese beyond doubt.
///
/// `whole` says that the text ends with them; otherwise they may end within a character.
pub(super) fn is_unmistakable(bytes: &[u8], whole: bool) -> bool {
    let Some(text) = decoded(bytes, whole) else { return false };
    let known: HashSet<char> = FREQUENT.chars().collect();
    let (mut frequent, mut others, mut seen) = (0_usize, 0_usize, HashSet::new());
    for char in text.chars().filter(|char| !char.is_ascii() && !is_punctuation(*char)) {
        if known.contains(&char) {
            frequent += 1;
            seen.insert(char);
        } else {
            others += 1;
        }
    }
    let says = seen.len() >= FREQUENT_MIN || WORDS.iter().any(|word| text.contains(word));
    says && frequent >= others
}

fn decoded(bytes: &[u8], whole: bool) -> Option<Zeroizing<String>> {
    let mut decoder = Encoding::Gb18030.decoder();
    let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len())?;
    let mut text = Zeroizing::new(String::with_capacity(room));
    let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, whole);
    (result == encoding_rs::DecoderResult::InputEmpty).then_some(text)
}

/// Marks, brackets and letters of full width, which Chinese, Japanese and Korean share.
fn is_punctuation(char: char) -> bool {
    matches!(char, '\u{2010}'..='\u{203b}' | '\u{3000}'..='\u{3020}' | '\u{ff00}'..='\u{ffef}')
}
