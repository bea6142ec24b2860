//! How a command fails: an exit code, what happened, and what to do.

use std::process::ExitCode;

use serde_json::json;
use tessera_api::{Problem, Slug};
use tessera_store::{SetFault, StoreError};

/// Exit codes; the README lists the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It ran, and the answer is no.
    No = 1,
    /// Wrong usage.
    Usage = 2,
    /// A service or key it needs is away or wrong.
    Needs = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Usage => 2,
            Exit::Needs => 3,
        })
    }
}

/// A command's failure.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub(crate) struct Failure {
    exit: Exit,
    detail: String,
    remedy: Option<String>,
    problem: Option<Box<Problem>>,
}

impl Failure {
    fn new(exit: Exit, detail: String) -> Self {
        Self { exit, detail, remedy: None, problem: None }
    }

    /// The answer is no.
    pub(crate) fn no(detail: impl Into<String>) -> Self {
        Self::new(Exit::No, detail.into())
    }

    /// There is no such thing.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Problem::new(Slug::NotFound, detail).into()
    }

    /// The command or its configuration is wrong.
    pub(crate) fn usage(detail: impl Into<String>) -> Self {
        Self::new(Exit::Usage, detail.into())
    }

    /// Something it needs is away or wrong.
    pub(crate) fn needs(detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..Self::new(Exit::Needs, detail.into()) }
    }

    /// What to do about it.
    pub(crate) fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn remedy(&self) -> Option<&str> {
        self.remedy.as_deref()
    }

    /// The problem object that `--json` prints.
    pub(crate) fn json(&self) -> serde_json::Value {
        if let Some(problem) = &self.problem {
            return json!(problem.body());
        }
        let (slug, status) = match self.exit {
            Exit::Done | Exit::No => ("refused", 409),
            Exit::Usage => ("invalid-request", 422),
            Exit::Needs => ("unavailable", 503),
        };
        let detail = match &self.remedy {
            Some(remedy) => format!("{}: {remedy}", self.detail),
            None => self.detail.clone(),
        };
        json!({ "type": format!("urn:tessera:problem:{slug}"), "title": slug, "status": status, "detail": detail })
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let body = json!(problem.body());
        let errors = body["errors"].as_array().cloned().unwrap_or_default();
        let lines = errors.iter().map(|e| {
            format!(
                "{} {}",
                e["pointer"].as_str().unwrap_or_default(),
                e["detail"].as_str().unwrap_or_default()
            )
        });
        let lines: Vec<String> = lines.collect();
        let detail = match lines.as_slice() {
            [] => body["detail"].as_str().unwrap_or_default().to_owned(),
            lines => lines.join("\n  "),
        };
        Self { problem: Some(Box::new(problem)), ..Self::no(detail) }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Data(detail) => Self::no(detail),
            StoreError::Schema(detail) => Self::needs(detail, "run `tessera migrate` with this version"),
            StoreError::Unavailable(detail) | StoreError::InDoubt(detail) => {
                Self::needs(detail, "see that the database can be reached and written, then try again")
            }
        }
    }
}

impl From<SetFault> for Failure {
    fn from(fault: SetFault) -> Self {
        match fault {
            SetFault::Data(detail) => Self::no(detail),
            SetFault::Store(error) => error.into(),
        }
    }
}
