//! Pages of the documentation that a command writes a table into.

/// The page with what stands between the lines `begin` and `end` replaced; none if it has not both.
pub(crate) fn replaced(page: &str, begin: &str, end: &str, table: &str) -> Option<String> {
    let (head, rest) = page.split_once(begin)?;
    let (_, tail) = rest.split_once(end)?;
    Some(format!("{head}{begin}{table}{end}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_lines_is_replaced() {
        assert_eq!(
            replaced("a\nB\nold\nE\nz\n", "B\n", "E\n", "new\n").as_deref(),
            Some("a\nB\nnew\nE\nz\n")
        );
        assert_eq!(replaced("no lines", "B\n", "E\n", "new\n"), None);
    }
}
