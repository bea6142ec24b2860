//! A data folder in which nothing may be written.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::{DAMAGES, bought, selling};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_cannot_be_written_is_named_and_harms_nothing() {
    let program = selling(2).await;
    let server = program.serve().await;
    bought(&program.client(), "before").await;
    assert_eq!(server.terminate().await.code, Some(0));
    let data = program.data();
    let Some(locked) = Locked::close(&data) else {
        println!("nothing is read-only for this user, and nothing may be mounted: not shown by this run");
        return program.close_stopped().await;
    };
    let remedy = "see that the database can be reached and written";
    let refused = program.problem(&["serve"], 3).await;
    assert!(refused["detail"].as_str().unwrap().contains("written"), "{refused}");
    let doctor = program.command(&["doctor"]).await;
    assert_eq!(doctor.code, Some(1), "{}", doctor.stdout);
    assert!(doctor.stdout.contains(remedy), "{}", doctor.stdout);
    drop(locked);
    assert_eq!(program.number(DAMAGES).await, 0, "the file is damaged");
    let server = program.serve().await;
    bought(&program.client(), "after").await;
    program.close(server).await;
}

/// A folder in which nothing can be written until this is dropped.
enum Locked<'f> {
    /// By its mode, which holds for everybody but root.
    Mode(&'f Path),
    /// By a mount over itself, which only root may make.
    Mount(&'f Path),
}

impl<'f> Locked<'f> {
    fn close(folder: &'f Path) -> Option<Self> {
        let locked = Self::Mode(folder);
        set_modes(folder, 0o500, 0o400);
        if std::fs::write(folder.join("probe"), "").is_err() {
            return Some(locked);
        }
        std::fs::remove_file(folder.join("probe")).unwrap();
        drop(locked);
        mounted(&["--bind"], folder).then_some(())?;
        let locked = Self::Mount(folder);
        mounted(&["-o", "remount,bind,ro"], folder).then_some(locked)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        match self {
            Self::Mode(folder) => set_modes(folder, 0o700, 0o600),
            Self::Mount(folder) => {
                let done = Command::new("umount").arg(folder).status();
                assert!(done.is_ok_and(|done| done.success()), "the folder stays closed");
            }
        }
    }
}

/// Mounts a folder over itself.
fn mounted(options: &[&str], folder: &Path) -> bool {
    let mut mount = Command::new("mount");
    mount.args(options).arg(folder).arg(folder);
    mount.output().is_ok_and(|done| done.status.success())
}

/// Sets the modes of a folder and of the files in it.
fn set_modes(folder: &Path, its: u32, files: u32) {
    let set = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    set(folder, 0o700);
    for entry in std::fs::read_dir(folder).unwrap() {
        set(&entry.unwrap().path(), files);
    }
    set(folder, its);
}
