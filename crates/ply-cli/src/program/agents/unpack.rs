//! Archives, unpacked so that nothing of them ends up elsewhere.
//!
//! The system's `tar` and `unzip` do the work. Names are looked at before, and everything that was made is looked at afterwards,
//! while it is still in a directory that nobody uses.

use std::collections::HashMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use super::tool;
use crate::program::error::Error;

/// Files and directories of an archive.
const ENTRIES_MAX: usize = 1_000_000;
/// Bits of a mode that let a program run as somebody else.
const SET_ID: u32 = 0o6000;

/// What an address leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Bzip2,
    Zip,
    /// The program itself.
    Raw,
}

impl Format {
    fn of(url: &str) -> Self {
        let path = url.split(['?', '#']).next().unwrap_or(url);
        let ends = |ends: &[&str]| ends.iter().any(|end| path.ends_with(end));
        match () {
            () if ends(&[".tar.gz", ".tgz"]) => Self::Gzip,
            () if ends(&[".tar.bz2", ".tbz2"]) => Self::Bzip2,
            () if ends(&[".zip"]) => Self::Zip,
            () => Self::Raw,
        }
    }
}

/// Unpacks an archive that came from an address into a directory and returns the program in it, below the directory.
pub(super) async fn unpack(
    archive: &Path,
    url: &str,
    program: &str,
    directory: &Path,
) -> Result<String, Error> {
    let program = below(program)?;
    let target = directory.join(&program);
    let archive_name = archive.to_string_lossy();
    match Format::of(url) {
        Format::Raw => {
            let parent = target.parent().unwrap_or(directory);
            let put = fs::create_dir_all(parent).and_then(|()| fs::copy(archive, &target));
            put.map_err(|source| failed(directory, source))?;
        }
        Format::Zip => {
            refuse_names(&tool::run("unzip", ["-Z1", &archive_name], directory).await?)?;
            tool::run("unzip", ["-q", "-n", &archive_name, "-d", "."], directory).await?;
        }
        format => {
            let packed = if format == Format::Gzip { "-z" } else { "-j" };
            refuse_names(&tool::run("tar", [packed, "-tf", &archive_name], directory).await?)?;
            let words = ["--no-same-owner", "--no-same-permissions", packed, "-xf"];
            let words = words.into_iter().chain([&*archive_name]);
            tool::run("tar", words, directory).await?;
        }
    }
    look_at(directory)?;
    if !target.is_file() {
        return Err(refused(format!(
            "it does not contain the program `{program}`"
        )));
    }
    let mode = fs::metadata(&target).map(|about| about.permissions().mode());
    let run =
        mode.and_then(|mode| fs::set_permissions(&target, Permissions::from_mode(mode | 0o755)));
    run.map_err(|source| failed(directory, source))?;
    Ok(program)
}

/// Returns the path of a program without `./`, if it stays below its directory.
fn below(program: &str) -> Result<String, Error> {
    let mut parts = Vec::new();
    for part in Path::new(program).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_string_lossy()),
            _ => return Err(refused(format!("its program `{program}` is outside of it"))),
        }
    }
    match parts.is_empty() {
        true => Err(refused("the registry names no program in it".to_owned())),
        false => Ok(parts.join("/")),
    }
}

/// Refuses names that lead out of the directory.
fn refuse_names(listed: &[u8]) -> Result<(), Error> {
    let listed = String::from_utf8_lossy(listed);
    for name in listed.lines() {
        let leaves = name.starts_with('/') || name.split(['/', '\\']).any(|part| part == "..");
        if leaves {
            return Err(refused(format!(
                "it contains `{name}`, which leads out of it"
            )));
        }
    }
    Ok(())
}

/// Refuses what was unpacked if anything in it leads elsewhere or is no file, and takes away the right to run as somebody else.
fn look_at(directory: &Path) -> Result<(), Error> {
    let io = |source| failed(directory, source);
    let root = directory.canonicalize().map_err(io)?;
    let mut left = vec![root.clone()];
    let mut count = 0;
    // Names found of each file that has several.
    let mut linked: HashMap<(u64, u64), (u64, u64)> = HashMap::new();
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).map_err(io)? {
            let path = entry.map_err(io)?.path();
            count += 1;
            if count > ENTRIES_MAX {
                return Err(refused(format!("it has more than {ENTRIES_MAX} entries")));
            }
            let about = fs::symlink_metadata(&path).map_err(io)?;
            let kind = about.file_type();
            let name = || name_in(&root, &path);
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_symlink() {
                // One that leads nowhere may lead elsewhere tomorrow.
                let leads = path.canonicalize();
                if !leads.is_ok_and(|leads| leads.starts_with(&root)) {
                    return Err(refused(format!("its link `{}` leads out of it", name())));
                }
            } else if kind.is_file() {
                if about.mode() & SET_ID != 0 {
                    let mode = Permissions::from_mode(about.mode() & 0o777);
                    fs::set_permissions(&path, mode).map_err(io)?;
                }
                if about.nlink() > 1 {
                    let seen = linked.entry((about.dev(), about.ino())).or_default();
                    *seen = (seen.0 + 1, about.nlink());
                }
            } else {
                return Err(refused(format!("`{}` is a device or a pipe", name())));
            }
        }
    }
    match linked.values().all(|(seen, links)| seen == links) {
        true => Ok(()),
        false => Err(refused("a file of it is linked from elsewhere".to_owned())),
    }
}

fn name_in(root: &Path, path: &Path) -> String {
    let name: PathBuf = path.strip_prefix(root).unwrap_or(path).to_owned();
    name.to_string_lossy().into_owned()
}

fn refused(what: String) -> Error {
    Error::agents(
        format!("the archive is refused: {what}"),
        "nothing was installed; report it to the agent's authors",
    )
}

fn failed(directory: &Path, source: std::io::Error) -> Error {
    Error::File {
        path: directory.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn formats_are_told_by_the_end_of_the_address() {
        for (url, format) in [
            ("https://x/a.tar.gz?token=1", Format::Gzip),
            ("https://x/a.tgz", Format::Gzip),
            ("https://x/a.tbz2", Format::Bzip2),
            ("https://x/a.zip#x", Format::Zip),
            ("https://x/a-linux", Format::Raw),
        ] {
            assert_eq!(Format::of(url), format, "{url}");
        }
    }

    #[test]
    fn programs_and_names_stay_below_their_directory() {
        assert_eq!(below("./dist/./tea").unwrap(), "dist/tea");
        for wrong in ["/bin/sh", "../tea", "a/../../tea", ".", ""] {
            assert!(below(wrong).is_err(), "{wrong}");
        }
        assert!(refuse_names(b"a/\na/b..c\n./d\n").is_ok());
        for wrong in [
            &b"a\n/etc/passwd\n"[..],
            b"../a\n",
            b"a/../../b\n",
            b"a\\..\\b\n",
        ] {
            assert!(refuse_names(wrong).is_err(), "{wrong:?}");
        }
    }

    fn look(make: impl Fn(&Path)) -> Result<(), String> {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("new");
        fs::create_dir_all(directory.join("sub")).unwrap();
        fs::write(directory.join("sub/file"), "x").unwrap();
        make(&directory);
        look_at(&directory).map_err(|error| error.to_string())
    }

    #[test]
    fn links_that_stay_inside_are_fine_and_others_are_refused() {
        assert_eq!(
            look(|at| symlink("sub/file", at.join("l")).unwrap()),
            Ok(())
        );
        assert_eq!(
            look(|at| symlink("../sub", at.join("sub/l")).unwrap()),
            Ok(())
        );
        for target in ["/etc", "../..", "nowhere", "sub/l/.."] {
            let told = look(|at| {
                symlink("..", at.join("sub/l")).unwrap();
                symlink(target, at.join("l")).unwrap();
            });
            assert!(told.unwrap_err().contains("leads out of it"), "{target}");
        }
    }

    #[test]
    fn files_linked_from_elsewhere_are_refused_and_set_id_bits_are_dropped() {
        let told = look(|at| {
            let outside = at.parent().unwrap().join("outside");
            fs::write(&outside, "x").unwrap();
            fs::hard_link(outside, at.join("l")).unwrap();
        });
        assert!(told.unwrap_err().contains("linked from elsewhere"));
        assert_eq!(
            look(|at| fs::hard_link(at.join("sub/file"), at.join("l")).unwrap()),
            Ok(())
        );
        let told = look(|at| {
            let file = at.join("sub/file");
            fs::set_permissions(&file, Permissions::from_mode(0o4755)).unwrap();
            look_at(at).unwrap();
            let mode = fs::metadata(&file).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o755);
        });
        assert_eq!(told, Ok(()));
    }
}
