//! Just enough Rust to tell code from comments and literals, and to read the paths it names.
//!
//! Not a parser: it never sees through macros, aliases or glob imports. What it misses, a reviewer still can.

use std::iter::repeat_n;

/// Counts the lines above the file's inline test module.
pub(super) fn production_lines(text: &str) -> usize {
    let code = code(text);
    let lines: Vec<&str> = code.lines().map(str::trim).collect();
    let opens_tests = |at: &usize| {
        lines.get(*at) == Some(&"#[cfg(test)]")
            && lines
                .iter()
                .skip(at + 1)
                .find(|line| !line.starts_with("#["))
                .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    (0..lines.len()).find(opens_tests).unwrap_or(lines.len())
}

/// The text with comments and literals blanked; lines and columns stay where they are.
pub(super) fn code(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut rest = letters.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let length = blank_length(rest);
        if length == 0 {
            code.push(*first);
            rest = after;
        } else {
            let (blank, after) = rest.split_at(length.min(rest.len()));
            code.extend(blank.iter().map(|letter| if *letter == '\n' { '\n' } else { ' ' }));
            rest = after;
        }
    }
    code
}

/// The length of the comment or literal that starts here; 0 where code stands.
fn blank_length(rest: &[char]) -> usize {
    match rest {
        ['/', '/', ..] => rest.iter().take_while(|letter| **letter != '\n').count(),
        ['/', '*', ..] => block_comment_length(rest),
        ['"', ..] => quoted_length(rest, '"'),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => quoted_length(rest, '\''),
        ['r', '"' | '#', ..] => raw_string_length(rest),
        _ => 0,
    }
}

fn block_comment_length(rest: &[char]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    loop {
        match rest.get(at..).unwrap_or_default() {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] if depth == 1 => return at + 2,
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            [_, ..] => at += 1,
            [] => return at,
        }
    }
}

fn quoted_length(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    loop {
        match rest.get(at) {
            Some('\\') => at += 2,
            Some(letter) if *letter == quote => return at + 1,
            Some(_) => at += 1,
            None => return at,
        }
    }
}

/// `r"…"`, `r#"…"#` and so on; 0 for a raw identifier.
fn raw_string_length(rest: &[char]) -> usize {
    let hashes = rest.iter().skip(1).take_while(|letter| **letter == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return 0;
    }
    let close: Vec<char> = std::iter::once('"').chain(repeat_n('#', hashes)).collect();
    let opened = hashes + 2;
    let inside = rest.get(opened..).unwrap_or_default();
    inside
        .windows(close.len())
        .position(|window| window == close)
        .map_or(rest.len(), |at| opened + at + close.len())
}

/// A path that code names, and the line (from 1) that ends it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) line: usize,
    pub(super) path: String,
}

impl Named {
    /// Whether `part` stands in the path as whole segments.
    pub(super) fn holds(&self, part: &str) -> bool {
        format!("::{}::", self.path).contains(&format!("::{part}::"))
    }
}

/// Every path named in blanked code, those of grouped imports in full.
pub(super) fn paths(code: &str) -> Vec<Named> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while let Some(((_, token), after)) = rest.split_first() {
        rest = if matches!(token, Token::Name(_)) { path(rest, "", &mut found) } else { after };
    }
    found
}

enum Token<'code> {
    Name(&'code str),
    Separator,
    Mark(char),
}

type Tokens<'slice, 'code> = &'slice [(usize, Token<'code>)];

fn tokens(code: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    for (line, text) in (1..).zip(code.lines()) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let name =
                rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
            let (token, length) = match first {
                _ if name > 0 => (Token::Name(rest.get(..name).unwrap_or_default()), name),
                ':' if rest.starts_with("::") => (Token::Separator, 2),
                mark => (Token::Mark(mark), mark.len_utf8()),
            };
            if !first.is_whitespace() {
                tokens.push((line, token));
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    tokens
}

/// Reads one path, or all that begin with it when it opens a group.
fn path<'slice, 'code>(
    mut rest: Tokens<'slice, 'code>,
    prefix: &str,
    found: &mut Vec<Named>,
) -> Tokens<'slice, 'code> {
    let (mut line, mut path) = (0, prefix.to_owned());
    loop {
        match rest {
            [(at, Token::Name(name)), (_, Token::Separator), after @ ..] => {
                (line, path) = (*at, joined(&path, name));
                rest = after;
            }
            [(at, Token::Name(name)), after @ ..] => {
                let path = if *name == "self" { path } else { joined(&path, name) };
                found.push(Named { line: *at, path });
                return after;
            }
            [(_, Token::Mark('{')), after @ ..] => return group(after, &path, found),
            // A glob, or a type's arguments.
            _ => {
                found.push(Named { line, path });
                return rest;
            }
        }
    }
}

/// Reads what stands between the braces of a grouped import.
fn group<'slice, 'code>(
    mut rest: Tokens<'slice, 'code>,
    prefix: &str,
    found: &mut Vec<Named>,
) -> Tokens<'slice, 'code> {
    loop {
        rest = match rest {
            [(_, Token::Mark('}')), after @ ..] => return after,
            [(_, Token::Name("as")), _, after @ ..] => after,
            [(_, Token::Name(_)), ..] => path(rest, prefix, found),
            [_, after @ ..] => after,
            [] => return rest,
        }
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

#[cfg(test)]
mod tests;
