//! What people and programs read: tables that align, or one JSON document.

use std::io::{ErrorKind, IsTerminal, Write};

use comfy_table::{ContentArrangement, Table, TableStyle};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;

/// How a command answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) const fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether the answer has to be one JSON document.
    pub(crate) const fn is_json(self) -> bool {
        self.json
    }

    /// Prints `value` as JSON, or what `text` makes of it.
    pub(crate) fn print<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce(&T) -> String,
    ) -> Result<(), Failure> {
        let text = match self.json {
            true => serde_json::to_string_pretty(value).map_err(|e| Failure::no(e.to_string()))?,
            false => text(value),
        };
        Self::line(text.trim_end())
    }

    /// Prints a line of standard output.
    pub(crate) fn line(text: &str) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        match writeln!(out, "{text}").and_then(|()| out.flush()) {
            // Whoever read has seen enough.
            Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|e| Failure::no(format!("standard output: {e}"))),
        }
    }

    /// Prints a failure: a problem object on standard output, or words on standard error.
    pub(crate) fn failure(self, failure: &Failure) {
        // Where neither can be written, the exit code still tells.
        let _unwritable = match self.json {
            true => Self::line(&format!("{:#}", failure.json())).map_err(|_| ()),
            false => {
                let mut err = std::io::stderr().lock();
                let remedy = failure.remedy().map(|r| format!("\n  {r}")).unwrap_or_default();
                writeln!(err, "error: {failure}{remedy}").map_err(|_| ())
            }
        };
    }

    /// A progress bar on a terminal, nothing elsewhere.
    pub(crate) fn progress(self, bytes: Option<u64>) -> ProgressBar {
        if self.json || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = bytes.map_or_else(ProgressBar::no_length, ProgressBar::new);
        let template = "{bar:30} {percent:>3} %  {bytes}/{total_bytes}  {msg}  {eta} left";
        ProgressStyle::with_template(template).map(|style| bar.set_style(style)).unwrap_or_default();
        bar
    }
}

/// Rows under a header, aligned; wide characters count as wide.
pub(crate) fn table<R: IntoIterator<Item = String>>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new())
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    let mut count = 0;
    for row in rows {
        table.add_row(row.into_iter().collect::<Vec<_>>());
        count += 1;
    }
    match count {
        0 => "nothing to show".to_owned(),
        _ => table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n"),
    }
}

/// An optional value, or a dash.
pub(crate) fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "-".to_owned())
}
