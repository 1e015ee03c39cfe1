//! Sockets in the file system that programs outside of a command's network made, whenever that was.
//!
//! A socket is found wherever its file lies, but it is of the network that its program is in. The kernel tells
//! of a network which files its sockets are bound to, by `sock_diag(7)`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Stat, fstat, fstatfs, major, minor};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// The message that asks for sockets of a family, and that tells of one.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Asks for all that fit.
const DUMP: u16 = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
/// The states of sockets that can be connected to, now or as soon as their program listens, as bits.
const STATES: u32 = (1 << 7) | (1 << 10);
/// Asks for the file of a socket, as a bit.
const SHOW_FILE: u32 = 1 << 1;
/// The attribute that has it: the number of the file, and that of its device.
const FILE: u16 = 1;
/// How long a message's head is, and what follows it about a socket, in bytes.
const HEAD_BYTES: usize = 16;
/// How long the head of an attribute is, in bytes.
const ATTRIBUTE_BYTES: usize = 4;
/// What messages and attributes begin at multiples of, in bytes.
const ALIGNED_BYTES: usize = 4;
/// How much is received at once, in bytes.
const RECEIVED_BYTES: usize = 32 * 1024;
/// File systems that tell of other devices than the one they are mounted from, by their magic numbers: Btrfs
/// and OverlayFS.
const MANY_DEVICES: [u64; 2] = [0x9123_683e, 0x794c_7630];

/// The sockets of a network.
#[derive(Debug)]
pub(super) struct Outside(Mutex<OwnedFd>);

impl Outside {
    /// Opens the way to ask about the network of this process, which may leave it afterwards.
    pub(super) fn open() -> io::Result<Self> {
        let diagnostics = Some(netlink::SOCK_DIAG);
        let asked = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            diagnostics,
        )?;
        Ok(Self(Mutex::new(asked)))
    }

    /// Returns whether a socket of the network is bound to a file. Kernels that cannot tell know of none.
    pub(super) fn has(&self, file: impl AsFd) -> io::Result<bool> {
        let file = Bound::of(file)?;
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        send(&*asked, &request(), SendFlags::empty())?;
        let mut found = false;
        let mut received = vec![0; RECEIVED_BYTES];
        loop {
            let (length, _) = recv(&*asked, &mut received, RecvFlags::empty())?;
            let mut rest = received.get(..length).unwrap_or_default();
            while let Some((kind, body, after)) = message(rest) {
                match libc::c_int::from(kind) {
                    libc::NLMSG_DONE => return Ok(found),
                    libc::NLMSG_ERROR => return without(body).map(|()| false),
                    _ => found |= bound_to(body).is_some_and(|bound| file.may_be(bound)),
                }
                rest = after;
            }
        }
    }
}

/// A file that a socket may be bound to.
struct Bound {
    number: u32,
    device: u32,
    any_device: bool,
}

impl Bound {
    fn of(file: impl AsFd) -> io::Result<Self> {
        let Stat { st_ino, st_dev, .. } = fstat(&file)?;
        let magic = fstatfs(&file)?.f_type as u64;
        Ok(Self {
            // The kernel tells the lower half alone.
            number: st_ino as u32,
            device: (major(st_dev) << 20) | minor(st_dev),
            any_device: MANY_DEVICES.contains(&magic),
        })
    }

    fn may_be(&self, (number, device): (u32, u32)) -> bool {
        number == self.number && (self.any_device || device == self.device)
    }
}

/// Returns the request for all sockets that could be connected to.
fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    // The family is a byte, and three more say nothing.
    let family = u32::from_ne_bytes([libc::AF_UNIX as u8, 0, 0, 0]);
    let body = [family, STATES, 0, SHOW_FILE, 0, 0];
    let length = HEAD_BYTES + size_of_val(&body);
    bytes.extend_from_slice(&(length as u32).to_ne_bytes());
    bytes.extend_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend_from_slice(&DUMP.to_ne_bytes());
    // Its number and its sender, which the kernel knows.
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend(body.iter().flat_map(|field| field.to_ne_bytes()));
    bytes
}

/// Splits the first message off: its kind, what follows its head, and the rest.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(HEAD_BYTES..length)?;
    let next = length.next_multiple_of(ALIGNED_BYTES);
    Some((kind, body, bytes.get(next..).unwrap_or_default()))
}

/// Returns the number of the file that a socket is bound to, and that of its device.
fn bound_to(socket: &[u8]) -> Option<(u32, u32)> {
    let mut rest = socket.get(HEAD_BYTES..)?;
    loop {
        let length = usize::from(u16::from_ne_bytes(*rest.first_chunk()?));
        let kind = u16::from_ne_bytes(*rest.get(2..)?.first_chunk()?);
        let value = rest.get(ATTRIBUTE_BYTES..length)?;
        if kind == FILE {
            let number = u32::from_ne_bytes(*value.first_chunk()?);
            let device = u32::from_ne_bytes(*value.get(4..)?.first_chunk()?);
            return Some((number, device));
        }
        rest = rest.get(length.next_multiple_of(ALIGNED_BYTES)..)?;
    }
}

/// Returns the error in a message, unless it says that the kernel was built without this.
fn without(body: &[u8]) -> io::Result<()> {
    let code = body.first_chunk();
    let code = code.map_or(libc::EPROTO, |code| -i32::from_ne_bytes(*code));
    match code {
        libc::ENOENT | libc::ENOSYS => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn the_file_of_a_socket_is_known_by_whatever_name() {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        let outside = Outside::open().unwrap();
        let has = |name: &str| {
            let flags = rustix::fs::OFlags::PATH;
            let found = rustix::fs::open(at(name), flags, rustix::fs::Mode::empty()).unwrap();
            outside.has(found).unwrap()
        };
        File::create(at("file")).unwrap();
        assert!(!has("file"));
        let listener = UnixListener::bind(at("a")).unwrap();
        assert!(has("a"));
        std::fs::rename(at("a"), at("b")).unwrap();
        assert!(has("b"));
        drop(listener);
        assert!(!has("b"));
    }

    #[test]
    fn what_is_cut_off_is_no_message() {
        assert!(message(&[]).is_none());
        assert!(message(&[200, 0, 0, 0, 3, 0]).is_none());
        assert!(message(&[4, 0, 0, 0, 3, 0, 0, 0]).is_none());
        assert!(bound_to(&[0; HEAD_BYTES]).is_none());
        assert!(bound_to(&[0; HEAD_BYTES + ATTRIBUTE_BYTES]).is_none());
        assert!(bound_to(&[255; HEAD_BYTES + ATTRIBUTE_BYTES]).is_none());
    }
}
