//! System calls that commands do without, kept from them by seccomp.
//!
//! Namespaces and Landlock confine what is reached by a path or an address. What is left are ways around
//! both: new namespaces and mounts, files by handle, the keys of the user's login, sockets of families
//! that no network namespace holds, programs that others would run as the user, and the parts of the kernel
//! that attacks on it begin with.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::order::Order;
use crate::shell::Error;

/// Calls that fail with `EPERM`, whatever their arguments.
const DENIED: [libc::c_long; 24] = [
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_fanotify_init,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_keyctl,
    libc::SYS_lookup_dcookie,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_swapon,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Calls that fail with `ENOSYS`, so that programs use older ones: what the first two are told is out of
/// seccomp's sight, and the others carry calls past it.
const UNKNOWN: [libc::c_long; 5] = [
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
];

/// Flags of `clone` and `unshare` that make new namespaces.
const NAMESPACES: [libc::c_int; 8] = [
    libc::CLONE_NEWTIME,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Bits of a mode by which a program runs with the rights of its owner or group, whoever starts it. In a
/// workspace that others can reach, a command would leave them a way to be its user.
const SET_ID: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Calls that are given the mode of a file, and the place of it among their arguments.
#[cfg(target_arch = "x86_64")]
const MODES: [(libc::c_long, u8); 7] = [
    (libc::SYS_chmod, 1),
    (libc::SYS_creat, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];
#[cfg(not(target_arch = "x86_64"))]
const MODES: [(libc::c_long, u8); 4] = [
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    (libc::SYS_mknodat, 2),
];

/// Calls that are given a mode if they make a file, and the place of the flags that say so; the mode follows.
#[cfg(target_arch = "x86_64")]
const OPENS: [(libc::c_long, u8); 2] = [(libc::SYS_open, 1), (libc::SYS_openat, 2)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: [(libc::c_long, u8); 1] = [(libc::SYS_openat, 2)];

/// Flags of `open` with which it makes a file. The second one never stands without that of directories.
const MAKES: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Kinds of Unix sockets that send each packet to an address of its own; the kernel takes the second one for the
/// first. Connections are made by the keeper, which sees where they lead. Packets it would not see: a filter
/// looks at no address. So commands have none of these, also as pairs.
const DATAGRAMS: [libc::c_int; 2] = [libc::SOCK_DGRAM, libc::SOCK_RAW];
/// The part of a socket's type that is no flag.
const SOCKET_TYPE: u64 = 0xf;

/// Requests to a terminal that type into it.
const TYPING: [libc::c_ulong; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// Where the numbers of calls for the x32 interface begin, which filters for x86-64 see too.
const X32: u32 = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Keeps the calls from this process and all that it starts. Returns whether that can be done here.
pub(super) fn confine(order: &Order) -> Result<bool, Error> {
    let failed = |error: seccompiler::Error| Error::Ruleset(Box::new(error));
    // Filters want it, and not everywhere did Landlock do it already.
    if let Err(error) = rustix::thread::set_no_new_privs(true) {
        return Err(Error::Ruleset(Box::new(std::io::Error::from(error))));
    }
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(false);
    };
    let denied = rules(order).map_err(|error| failed(error.into()))?;
    let unknown: Rules = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    for (rules, errno) in [(denied, libc::EPERM), (unknown, libc::ENOSYS)] {
        let program = program(rules, errno, arch).map_err(|error| failed(error.into()))?;
        seccompiler::apply_filter(&program).map_err(failed)?;
    }
    Ok(true)
}

fn program(
    rules: Rules,
    errno: i32,
    arch: TargetArch,
) -> Result<BpfProgram, seccompiler::BackendError> {
    let errno = errno.unsigned_abs();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        arch,
    )?;
    let mut program: BpfProgram = filter.try_into()?;
    if matches!(arch, TargetArch::x86_64) {
        program.splice(0..0, without_x32(errno));
    }
    Ok(program)
}

/// Returns instructions that deny all calls of the x32 interface: they have other numbers than those in
/// the rules.
fn without_x32(errno: u32) -> [sock_filter; 3] {
    let instruction = |code: u32, jt, jf, k| sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    // The number is the first field of what a filter sees.
    let number = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let is_x32 = instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32);
    let deny = instruction(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_ERRNO | errno,
    );
    [number, is_x32, deny]
}

fn rules(order: &Order) -> Result<Rules, seccompiler::BackendError> {
    use SeccompCmpOp::{Eq, Ne};
    let mut rules: Rules = DENIED.iter().map(|call| (*call, Vec::new())).collect();
    rules.insert(libc::SYS_unshare, new_namespaces(&NAMESPACES)?);
    // For `clone` the lowest bits are a signal, and the flag of time namespaces is one of them.
    let (_, for_clone) = NAMESPACES.split_at(1);
    rules.insert(libc::SYS_clone, new_namespaces(for_clone)?);
    let mut typing = Vec::new();
    for request in TYPING {
        typing.push(SeccompRule::new(vec![when(1, Eq, request)?])?);
    }
    rules.insert(libc::SYS_ioctl, typing);
    let mut others = Vec::new();
    for family in families(order) {
        others.push(when(0, Ne, u64::from(family.cast_unsigned()))?);
    }
    let mut sockets = vec![SeccompRule::new(others)?];
    sockets.extend(datagrams()?);
    rules.insert(libc::SYS_socket, sockets);
    rules.insert(libc::SYS_socketpair, datagrams()?);
    for (call, mode) in MODES {
        let rule = |bit| SeccompRule::new(vec![has_bit(mode, bit)?]);
        rules.insert(
            call,
            SET_ID.into_iter().map(rule).collect::<Result<_, _>>()?,
        );
    }
    for (call, flags) in OPENS {
        let mut both = Vec::new();
        for (makes, bit) in MAKES
            .iter()
            .flat_map(|makes| SET_ID.map(|bit| (makes, bit)))
        {
            let makes = has_bit(flags, makes.cast_unsigned())?;
            both.push(SeccompRule::new(vec![makes, has_bit(flags + 1, bit)?])?);
        }
        rules.insert(call, both);
    }
    Ok(rules)
}

fn datagrams() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |kind: libc::c_int| {
        let unix = when(
            0,
            SeccompCmpOp::Eq,
            u64::from(libc::AF_UNIX.cast_unsigned()),
        )?;
        let of_kind = SeccompCmpOp::MaskedEq(SOCKET_TYPE);
        let of_kind = when(1, of_kind, u64::from(kind.cast_unsigned()))?;
        SeccompRule::new(vec![unix, of_kind])
    };
    DATAGRAMS.into_iter().map(rule).collect()
}

fn has_bit(argument: u8, bit: u32) -> Result<SeccompCondition, seccompiler::BackendError> {
    let bit = u64::from(bit);
    when(argument, SeccompCmpOp::MaskedEq(bit), bit)
}

fn new_namespaces(flags: &[libc::c_int]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let rule = |flag: &libc::c_int| SeccompRule::new(vec![has_bit(0, flag.cast_unsigned())?]);
    flags.iter().map(rule).collect()
}

/// Returns the condition for the lower half of an argument, which is all that the kernel reads of it.
fn when(
    argument: u8,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value)
}

/// Returns the families of sockets that commands may have.
///
/// Where the command has a network and a view of files of its own, Unix sockets and all of the Internet
/// are inside. Elsewhere a Unix socket leads to whatever listens on it, and Landlock confines TCP alone.
fn families(order: &Order) -> &'static [libc::c_int] {
    match (order.apart, order.no_network) {
        (true, _) => &[
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_NETLINK,
        ],
        (false, false) => &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK],
        (false, true) => &[libc::AF_NETLINK],
    }
}
