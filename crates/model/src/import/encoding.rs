//! The encodings a file may be in.

use std::str::FromStr;

/// How a file's bytes stand for characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, the low byte first: what Windows calls Unicode.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// [GB 18030](https://encoding.spec.whatwg.org/#gb18030), and so GBK and GB 2312: what Windows in China calls ANSI.
    Gb18030,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: [Self; 4] = [Self::Utf8, Self::Utf16Le, Self::Utf16Be, Self::Gb18030];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Utf16Le => "utf-16le",
            Self::Utf16Be => "utf-16be",
            Self::Gb18030 => "gb18030",
        }
    }

    /// A decoder that leaves byte order marks to others.
    pub(super) fn decoder(self) -> encoding_rs::Decoder {
        let encoding = match self {
            Self::Utf8 => encoding_rs::UTF_8,
            Self::Utf16Le => encoding_rs::UTF_16LE,
            Self::Utf16Be => encoding_rs::UTF_16BE,
            Self::Gb18030 => encoding_rs::GB18030,
        };
        encoding.new_decoder_without_bom_handling()
    }
}

/// A name that is not that of an [`Encoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown encoding; it is `utf-8`, `utf-16le`, `utf-16be` or `gb18030`")]
pub struct UnknownEncoding;

impl FromStr for Encoding {
    type Err = UnknownEncoding;

    /// Reads the word, in any case; `gbk` and `gb2312` are parts of `gb18030`.
    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        match name.to_ascii_lowercase().as_str() {
            "utf-8" | "utf8" => Ok(Self::Utf8),
            "utf-16le" => Ok(Self::Utf16Le),
            "utf-16be" => Ok(Self::Utf16Be),
            "gb18030" | "gbk" | "gb2312" => Ok(Self::Gb18030),
            _ => Err(UnknownEncoding),
        }
    }
}
