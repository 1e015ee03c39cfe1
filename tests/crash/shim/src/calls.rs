//! The calls that this library stands before. Each makes the system call itself, so nothing has to be looked up.

use std::io::Write as _;

use libc::{c_char, c_int, c_long, c_void, mode_t, off_t, size_t, ssize_t};

use crate::board::Kind;
use crate::plan::{Error, Fate, Plan};

/// Bytes of a path that is looked at; store paths are shorter.
const PATH_BYTES_MAX: usize = 4096;

/// How much of a call is done.
#[derive(Debug, Clone, Copy)]
enum Part {
    Whole,
    Half,
}

impl Part {
    fn of(self, bytes: size_t) -> size_t {
        match self {
            Self::Whole => bytes,
            Self::Half => bytes / 2,
        }
    }
}

/// Makes a call, or what becomes of it.
fn make(fate: Fate, call: impl Fn(Part) -> c_long) -> c_long {
    match fate {
        Fate::Pass => call(Part::Whole),
        Fate::KillBefore => die(),
        Fate::KillAfter => {
            call(Part::Whole);
            die()
        }
        Fate::KillTorn => {
            call(Part::Half);
            die()
        }
        Fate::Half => match call(Part::Half) {
            // There was no half of it.
            0 => fail(Error::Full),
            done => done,
        },
        Fate::Fail(error) => fail(error),
    }
}

fn fail(error: Error) -> c_long {
    let number = match error {
        Error::Full => libc::ENOSPC,
        Error::Broken => libc::EIO,
    };
    // SAFETY: the address of this thread's error number is always valid.
    unsafe { *libc::__errno_location() = number };
    -1
}

/// Kills this process as if by another one: nothing of it runs on, not even what runs at an exit.
fn die() -> ! {
    loop {
        // SAFETY: plain system calls on integers.
        unsafe {
            libc::kill(libc::getpid(), libc::SIGKILL);
            libc::pause();
        }
    }
}

/// Returns what becomes of a call on a descriptor. Which file it is, the system knows at any time.
fn fate_of_file(kind: Kind, file: c_int) -> Fate {
    let Some(plan) = Plan::get() else {
        return Fate::Pass;
    };
    let mut name = [0_u8; 32];
    if write!(&mut name[..], "/proc/self/fd/{file}\0").is_err() {
        return Fate::Pass;
    }
    let mut path = [0_u8; PATH_BYTES_MAX];
    // SAFETY: the name ends with a zero, and at most the length of the buffer is written to it.
    let bytes = unsafe {
        libc::syscall(
            libc::SYS_readlinkat,
            libc::AT_FDCWD,
            name.as_ptr(),
            path.as_mut_ptr(),
            path.len(),
        )
    };
    let path = usize::try_from(bytes)
        .ok()
        .and_then(|bytes| path.get(..bytes));
    match path.is_some_and(|path| plan.is_of_store(path)) {
        true => plan.fate(kind),
        false => Fate::Pass,
    }
}

/// Returns what becomes of a call on a path.
///
/// # Safety
///
/// The path is a C string.
unsafe fn fate_of_path(kind: Kind, path: *const c_char) -> Fate {
    let Some(plan) = Plan::get() else {
        return Fate::Pass;
    };
    // SAFETY: the caller's promise.
    let path = unsafe { std::ffi::CStr::from_ptr(path) };
    match plan.is_of_store(path.to_bytes()) {
        true => plan.fate(kind),
        false => Fate::Pass,
    }
}

/// The C library's `write`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, bytes: *const c_void, count: size_t) -> ssize_t {
    let fate = fate_of_file(Kind::Write, file);
    // SAFETY: what the caller gave is passed on, or less of it.
    make(fate, |part| unsafe {
        libc::syscall(libc::SYS_write, file, bytes, part.of(count))
    }) as ssize_t
}

/// The C library's `pwrite64`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(
    file: c_int,
    bytes: *const c_void,
    count: size_t,
    at: off_t,
) -> ssize_t {
    let fate = fate_of_file(Kind::Write, file);
    // SAFETY: what the caller gave is passed on, or less of it.
    make(fate, |part| unsafe {
        libc::syscall(libc::SYS_pwrite64, file, bytes, part.of(count), at)
    }) as ssize_t
}

/// The C library's `pwrite`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(
    file: c_int,
    bytes: *const c_void,
    count: size_t,
    at: off_t,
) -> ssize_t {
    // SAFETY: the same call on a machine of 64 bits.
    unsafe { pwrite64(file, bytes, count, at) }
}

/// The C library's `read`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn read(file: c_int, bytes: *mut c_void, count: size_t) -> ssize_t {
    let fate = fate_of_file(Kind::Read, file);
    // SAFETY: what the caller gave is passed on, or less of it.
    make(fate, |part| unsafe {
        libc::syscall(libc::SYS_read, file, bytes, part.of(count))
    }) as ssize_t
}

/// The C library's `pread64`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn pread64(file: c_int, bytes: *mut c_void, count: size_t, at: off_t) -> ssize_t {
    let fate = fate_of_file(Kind::Read, file);
    // SAFETY: what the caller gave is passed on, or less of it.
    make(fate, |part| unsafe {
        libc::syscall(libc::SYS_pread64, file, bytes, part.of(count), at)
    }) as ssize_t
}

/// The C library's `pread`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn pread(file: c_int, bytes: *mut c_void, count: size_t, at: off_t) -> ssize_t {
    // SAFETY: the same call on a machine of 64 bits.
    unsafe { pread64(file, bytes, count, at) }
}

/// The C library's `fsync`.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    let fate = fate_of_file(Kind::Sync, file);
    // SAFETY: the call takes an integer.
    make(fate, |_| unsafe { libc::syscall(libc::SYS_fsync, file) }) as c_int
}

/// The C library's `fdatasync`.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    let fate = fate_of_file(Kind::Sync, file);
    // SAFETY: the call takes an integer.
    make(fate, |_| unsafe {
        libc::syscall(libc::SYS_fdatasync, file)
    }) as c_int
}

/// The C library's `ftruncate64`.
#[unsafe(no_mangle)]
extern "C" fn ftruncate64(file: c_int, bytes: off_t) -> c_int {
    let fate = fate_of_file(Kind::Truncate, file);
    // SAFETY: the call takes integers.
    make(fate, |_| unsafe {
        libc::syscall(libc::SYS_ftruncate, file, bytes)
    }) as c_int
}

/// The C library's `ftruncate`.
#[unsafe(no_mangle)]
extern "C" fn ftruncate(file: c_int, bytes: off_t) -> c_int {
    ftruncate64(file, bytes)
}

/// The C library's `openat64`.
///
/// Its last argument is given only with flags that make a file. It comes in a register either way, so there is always
/// something to read, and the system looks at it only with these flags.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the path is a C string.
    let fate = unsafe { fate_of_path(Kind::Open, path) };
    // SAFETY: what the caller gave is passed on.
    make(fate, |_| unsafe {
        libc::syscall(libc::SYS_openat, at, path, flags, mode)
    }) as c_int
}

/// The C library's `openat`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn openat(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the same call on a machine of 64 bits.
    unsafe { openat64(at, path, flags, mode) }
}

/// The C library's `open64`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the same call, from the working directory.
    unsafe { openat64(libc::AT_FDCWD, path, flags, mode) }
}

/// The C library's `open`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the same call, from the working directory.
    unsafe { openat64(libc::AT_FDCWD, path, flags, mode) }
}

/// The C library's `unlink`.
///
/// # Safety
///
/// As there.
#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the path is a C string.
    let fate = unsafe { fate_of_path(Kind::Unlink, path) };
    // SAFETY: what the caller gave is passed on.
    make(fate, |_| unsafe {
        libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0)
    }) as c_int
}
