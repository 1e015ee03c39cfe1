//! Sockets of other programs in the file system. Whatever listens on them does things outside of the
//! sandbox for whoever asks: container engines, editors, agents for keys.

use std::path::{Path, PathBuf};

use super::order::Order;

/// Returns the sockets that a command must not reach and that it would see.
///
/// The table is that of one network. A command with a network of its own makes sockets in there, so none in
/// the table is its own, or that of another such command. Without one, those in directories it may write to
/// are left to it.
///
/// It has to be called where the other programs are, outside.
pub(super) fn of_others(order: &Order) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/net/unix").unwrap_or_default();
    let table = String::from_utf8_lossy(&table);
    let private = order.private.iter().map(|(place, _)| place.as_path());
    let private: Vec<_> = private.chain(["/run", "/dev"].map(Path::new)).collect();
    let is_there = |path: &PathBuf| {
        let mut around = private.iter().copied();
        let mut writable = order.writable.iter().map(PathBuf::as_path);
        let is_own = writable.any(|place| path.starts_with(place));
        match is_own {
            true => order.no_network,
            false => !around.any(|place| path.starts_with(place)),
        }
    };
    let (absolute, relative): (Vec<_>, Vec<_>) =
        bound(&table).partition(|(_, path)| path.starts_with('/'));
    let absolute = absolute.into_iter().map(|(_, path)| PathBuf::from(path));
    let mut found: Vec<_> = absolute.chain(resolved(&relative)).collect();
    found.retain(is_there);
    found.sort();
    found.dedup();
    found
}

/// Returns the sockets in the system's table that have a name in the file system, by their inodes.
fn bound(table: &str) -> impl Iterator<Item = (&str, &str)> {
    let socket = |line| {
        let (mut inode, mut rest): (&str, &str) = ("", line);
        // The path is the eighth field and the last, and may have spaces.
        for _ in 0..7 {
            (inode, rest) = rest.trim_start().split_once(' ')?;
        }
        Some((inode, rest)).filter(|(_, path)| !path.is_empty() && !path.starts_with('@'))
    };
    table.lines().skip(1).filter_map(socket)
}

/// Returns where sockets are whose names depend on where their programs were when they made them: taken for
/// where they are now. A program that went elsewhere since is not found out.
fn resolved(relative: &[(&str, &str)]) -> Vec<PathBuf> {
    if relative.is_empty() {
        return Vec::new();
    }
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let at = |process: PathBuf| {
        let cwd = std::fs::read_link(process.join("cwd")).ok()?;
        let opened = std::fs::read_dir(process.join("fd")).ok()?.flatten();
        let links = opened.filter_map(|opened| std::fs::read_link(opened.path()).ok());
        let sockets = links.filter_map(|link| {
            let name = link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?;
            let (_, path) = relative.iter().find(|(inode, _)| *inode == name)?;
            Some(cwd.join(path))
        });
        Some(sockets.collect::<Vec<_>>())
    };
    let found = processes.filter_map(|process| at(process.path()));
    found.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_the_table() {
        let table = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            00000000d6a8ea91: 00000002 00000000 00010000 0001 01 20523 /home/me/a b.sock\n\
            00000000a0a8ea91: 00000003 00000000 00000000 0001 03 20524\n\
            00000000a0a8ea91: 00000003 00000000 00000000 0001 03 20524 @/tmp/abstract\n\
            00000000a0a8ea91: 00000003 00000000 00000000 0002 01 20525 /x\n\
            00000000a0a8ea91: 00000002 00000000 00010000 0001 01    99 agent.sock\n";
        let found: Vec<_> = bound(table).collect();
        let expected = [
            ("20523", "/home/me/a b.sock"),
            ("20525", "/x"),
            ("99", "agent.sock"),
        ];
        assert_eq!(found, expected);
    }
}
