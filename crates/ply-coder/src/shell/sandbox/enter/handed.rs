//! Descriptors that one process hands to another.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Hands over a descriptor.
pub(in crate::shell::sandbox) fn give(to: impl AsFd, descriptor: impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor.as_fd()];
    if !message.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let word = [io::IoSlice::new(b"!")];
    sendmsg(to, &word, &mut message, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Takes the descriptor that is handed over.
pub(in crate::shell::sandbox) fn take(from: impl AsFd) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(&mut byte)];
    recvmsg(from, &mut parts, &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let handed = message.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    handed.ok_or_else(|| io::Error::other("nothing was handed over"))
}
