//! Installing, updating and removing agents.

use std::fs;
use std::path::Path;

use super::arguments::{Add, Remove, Update};
use super::index::{Binary, Entry, Index, Package};
use super::lock::{Guard, Kind, Lock, Locked, Place};
use super::package::{self, Installed, Scripts};
use super::{download, unpack};
use crate::program::error::Error;
use crate::program::output;
use crate::program::roster::known_name;

/// What the user allows.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    unverified: bool,
    scripts: Scripts,
}

/// The way in which an agent is installed.
enum Way<'a> {
    Binary(&'a Binary),
    Npm(&'a Package),
    Uv(&'a Package),
}

/// Installs agents.
pub(super) async fn add(index: &Index, arguments: &Add) -> Result<(), Error> {
    let allowed = Allowed::new(arguments.unverified, arguments.scripts);
    let place = super::place()?;
    let guard = place.guard()?;
    let mut lock = place.read()?;
    for name in &arguments.names {
        let entry = index.find(name)?;
        let name = known_name(&entry.id);
        match lock.agents.get(name) {
            Some(old) if old.version == entry.version => {
                output::tell(&format!("{name} {} is already installed", old.version));
            }
            _ => put(entry, name, allowed, &place, &mut lock, &guard).await?,
        }
    }
    Ok(())
}

/// Installs the registry's versions of installed agents.
pub(super) async fn update(index: &Index, arguments: &Update) -> Result<(), Error> {
    let allowed = Allowed::new(arguments.unverified, arguments.scripts);
    let place = super::place()?;
    let guard = place.guard()?;
    let mut lock = place.read()?;
    let mut names: Vec<String> = lock.agents.keys().cloned().collect();
    if !arguments.names.is_empty() {
        let named = arguments.names.iter().map(|name| installed(&lock, name));
        names = named.collect::<Result<_, Error>>()?;
    }
    if names.is_empty() {
        output::tell("no agent is installed; `ply agents add NAME` installs one");
    }
    for name in names {
        let Some(old) = lock.agents.get(&name) else {
            continue;
        };
        let entry = index.agents.iter().find(|entry| entry.id == old.id);
        match entry {
            None => output::tell(&format!(
                "warning: {name} is no longer in the registry; {} stays",
                old.version
            )),
            Some(entry) if entry.version == old.version => {
                output::tell(&format!("{name} {} is up to date", old.version));
            }
            Some(entry) => put(entry, &name, allowed, &place, &mut lock, &guard).await?,
        }
    }
    Ok(())
}

/// Removes agents.
pub(super) fn remove(arguments: &Remove) -> Result<(), Error> {
    let place = super::place()?;
    let guard = place.guard()?;
    let mut lock = place.read()?;
    for name in &arguments.names {
        let name = installed(&lock, name)?;
        lock.agents.remove(&name);
        place.write(&lock, &guard)?;
        place.prune(&name, &[], &guard)?;
        output::line(&format!("removed\t{name}"));
    }
    Ok(())
}

/// Returns the name under which an agent is installed.
fn installed(lock: &Lock, name: &str) -> Result<String, Error> {
    let names = [name, known_name(name)];
    let found = names
        .into_iter()
        .find(|name| lock.agents.contains_key(*name));
    found.map(str::to_owned).ok_or_else(|| {
        let all: Vec<_> = lock.agents.keys().map(String::as_str).collect();
        let hint = match all.is_empty() {
            true => "no agent is installed; `ply agents add NAME` installs one".to_owned(),
            false => format!("installed: {}", all.join(", ")),
        };
        Error::agents(
            format!("`{name}` is not installed by `ply agents add`"),
            hint,
        )
    })
}

/// Installs one agent, and leaves everything as it was if that fails.
async fn put(
    entry: &Entry,
    name: &str,
    allowed: Allowed,
    place: &Place,
    lock: &mut Lock,
    guard: &Guard,
) -> Result<(), Error> {
    let Entry { version, .. } = entry;
    output::tell(&format!("installing {name} {version}: {}", entry.name));
    let old = lock.agents.get(name).cloned();
    let unfinished = place.unfinished(guard)?;
    let content = unfinished.join("content");
    let made = fs::create_dir(&content).map_err(|source| Error::File {
        path: content.clone(),
        source,
    });
    let locked = match made {
        Ok(()) => fetch(entry, allowed, old.as_ref(), &unfinished, &content).await,
        Err(error) => Err(error),
    };
    let finished = locked.and_then(|locked| {
        place.finish(&content, name, version, guard)?;
        Ok(locked)
    });
    // What stays of it is cleared by the next command.
    drop(fs::remove_dir_all(&unfinished));
    let locked = finished?;
    for (variable, value) in &locked.env {
        output::tell(&format!("  it runs with {variable}={value}"));
    }
    lock.agents.insert(name.to_owned(), locked);
    place.write(lock, guard)?;
    // The version before stays until the next update: it may be running.
    let before = old.as_ref().map_or(version, |old| &old.version);
    place.prune(name, &[version.as_str(), before.as_str()], guard)?;
    output::line(&format!("installed\t{name}\t{version}"));
    output::tell(&format!(
        "  start it with `ply -a {name}`; `ply agents login {name}` logs in"
    ));
    Ok(())
}

async fn fetch(
    entry: &Entry,
    allowed: Allowed,
    old: Option<&Locked>,
    unfinished: &Path,
    content: &Path,
) -> Result<Locked, Error> {
    let version = &entry.version;
    match way(entry)? {
        Way::Npm(package) => {
            let done = package::npm(package, version, content, allowed.scripts).await?;
            Ok(locked(entry, Kind::Npm, package, done))
        }
        Way::Uv(package) => {
            let done = package::uv(package, version, content).await?;
            Ok(locked(entry, Kind::Uv, package, done))
        }
        Way::Binary(binary) => {
            let archive = unfinished.join("archive");
            let sha256 = verified(entry, binary, allowed, old, &archive).await?;
            let program = unpack::unpack(&archive, &binary.archive, &binary.cmd, content).await?;
            Ok(Locked {
                id: entry.id.clone(),
                version: version.clone(),
                about: entry.description.clone(),
                kind: Kind::Binary,
                source: binary.archive.clone(),
                sha256: Some(sha256),
                integrity: None,
                runner: None,
                program,
                args: binary.args.clone(),
                env: binary.env.clone(),
            })
        }
    }
}

/// Downloads an archive and returns its checksum, which must be the one that the registry or the lock file names.
async fn verified(
    entry: &Entry,
    binary: &Binary,
    allowed: Allowed,
    old: Option<&Locked>,
    archive: &Path,
) -> Result<String, Error> {
    let url = &binary.archive;
    let pinned = old.filter(|old| old.source == *url);
    let pinned = pinned.and_then(|old| old.sha256.as_ref());
    let expected = binary.sha256.as_ref().or(pinned);
    if expected.is_none() && !allowed.unverified {
        return Err(Error::agents(
            format!(
                "the registry has no checksum for `{}` on {}",
                entry.id,
                platform()
            ),
            format!("if you trust {url}, give `--unverified`; its checksum is then recorded"),
        ));
    }
    output::tell(&format!("  downloading {url}"));
    let found = download::file(url, archive).await?;
    match expected {
        Some(expected) if !expected.eq_ignore_ascii_case(&found) => Err(Error::agents(
            format!("the checksum of {url} is {found}, and {expected} is expected"),
            "nothing was installed; the file or the registry has been changed",
        )),
        _ => Ok(found),
    }
}

/// Chooses how to install an agent: whatever can be verified first.
fn way(entry: &Entry) -> Result<Way<'_>, Error> {
    let ways = &entry.distribution;
    let binary = ways.binary.get(&platform());
    match (binary, &ways.npx, &ways.uvx) {
        (Some(binary), _, _) if binary.sha256.is_some() => Ok(Way::Binary(binary)),
        (_, Some(package), _) => Ok(Way::Npm(package)),
        (_, _, Some(package)) => Ok(Way::Uv(package)),
        (Some(binary), None, None) => Ok(Way::Binary(binary)),
        (None, None, None) => {
            let platforms: Vec<_> = ways.binary.keys().map(String::as_str).collect();
            Err(Error::agents(
                format!("`{}` is not available for {}", entry.id, platform()),
                format!("it is available for: {}", platforms.join(", ")),
            ))
        }
    }
}

fn locked(entry: &Entry, kind: Kind, package: &Package, done: Installed) -> Locked {
    Locked {
        id: entry.id.clone(),
        version: entry.version.clone(),
        about: entry.description.clone(),
        kind,
        source: done.source,
        sha256: None,
        integrity: done.integrity,
        runner: done.runner,
        program: done.program,
        args: package.args.clone(),
        env: package.env.clone(),
    }
}

/// Returns the registry's name of this platform.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        system => system,
    };
    format!("{system}-{}", std::env::consts::ARCH)
}

impl Allowed {
    fn new(unverified: bool, scripts: bool) -> Self {
        let scripts = if scripts {
            Scripts::Run
        } else {
            Scripts::Ignore
        };
        Self {
            unverified,
            scripts,
        }
    }
}
