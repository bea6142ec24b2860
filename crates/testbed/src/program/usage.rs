//! What a process takes from its system, and how much of it it may take. Linux only (`/proc`).

#![expect(clippy::expect_used, reason = "a process that cannot be looked at fails its test")]

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use super::{Process, Program};

impl Process {
    /// The memory it has right now, in KiB.
    pub fn memory_kib_now(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok()).expect("its memory")
    }

    /// How many files, sockets and the like it has open.
    pub fn descriptors(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.id())).expect("its descriptors").count()
    }

    /// From now on no file grows beyond so many bytes by its hand; none: as the system has it.
    ///
    /// A signal tells a process that tries, and ends it: [`Program::line_after`] can make it be ignored.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process id");
        let maximum = getrlimit(Resource::Fsize).maximum;
        let limit = Rlimit { current: bytes.or(maximum), maximum };
        prlimit(Some(id), Resource::Fsize, limit).expect("the limit can be set");
    }
}

impl Program {
    /// A command line that a shell runs after a word of its own, such as `ulimit -n 64`.
    pub fn line_after(&self, word: &str, arguments: &[&str]) -> std::process::Command {
        let line = self.line(arguments);
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("{word}; exec \"$0\" \"$@\"")]).arg(line.get_program());
        shell.args(line.get_args()).current_dir(self.folder()).env_clear().stdin(std::process::Stdio::null());
        shell.envs(line.get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell
    }
}

/// Lets this test have as many files and sockets open as its system allows; returns how many that is.
pub fn raise_descriptors() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    match setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        Ok(()) => maximum.unwrap_or(u64::MAX),
        Err(_) => current.unwrap_or(u64::MAX),
    }
}
