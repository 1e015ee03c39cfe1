//! Sockets of other programs in the file system. Whatever listens on them does things outside of the
//! sandbox for whoever asks: container engines, editors, agents for keys.

use std::path::{Path, PathBuf};

use super::order::Order;

/// Returns the sockets that a command must not reach and that it would see. Those in directories it may
/// write to are its own business.
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
        !around.any(|place| path.starts_with(place))
            && !writable.any(|place| path.starts_with(place))
    };
    let mut found: Vec<_> = paths(&table).filter(is_there).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the paths in the system's table of Unix sockets.
fn paths(table: &str) -> impl Iterator<Item = PathBuf> {
    let path = |line: &str| {
        // The path is the eighth field and the last, and may have spaces.
        let start = line.find(" /")?;
        line.get(start + 1..).map(PathBuf::from)
    };
    table.lines().skip(1).filter_map(path)
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
            00000000a0a8ea91: 00000003 00000000 00000000 0002 01 20525 /x\n";
        let found: Vec<_> = paths(table).collect();
        assert_eq!(
            found,
            [PathBuf::from("/home/me/a b.sock"), PathBuf::from("/x")]
        );
    }
}
