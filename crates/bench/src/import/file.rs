//! A made-up file of codes, as a supplier sends it.

use tessera_store::Entropy;

/// Capitals and digits but for those that are mistaken for each other: 32, so that five bits choose one.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// Characters of a code: 80 bits, of which no two are the same among millions.
const LENGTH: usize = 16;

/// So many codes, one a line.
pub(super) fn codes(lines: usize, entropy: &Entropy) -> String {
    let mut text = String::with_capacity(lines * (LENGTH + 1));
    for _ in 0..lines {
        let letters = entropy.bytes::<LENGTH>().map(|byte| ALPHABET[usize::from(byte % 32)]);
        text.extend(letters.map(char::from));
        text.push('\n');
    }
    text
}
