//! The network of a command that has none: a loopback device, and the door through which the agent lets it
//! out.

use std::io;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::handed;

/// Where commands find the agent's proxy, in a network of their own.
pub(in crate::shell) const PORT: u16 = 3128;

/// Connects to the agent, while that is still in reach.
pub(super) fn connect(gate: &Path) -> io::Result<OwnedFd> {
    Ok(UnixStream::connect(gate)?.into())
}

/// Turns on the loopback device, and hands the agent the door to listen at.
pub(super) fn open(agent: Option<OwnedFd>) -> io::Result<()> {
    // Any socket will do to talk about devices.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    ply_sys::apart::loopback_up(&socket)?;
    let Some(agent) = agent else {
        return Ok(());
    };
    // It stays part of this network, also in the hands of the agent.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))?;
    handed::give(agent, listener)
}
