//! What commands cannot do that nobody looks at before they run. Needs user namespaces, Landlock and seccomp.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use ply_coder::shell::{Cause, Confinement, Error, Exit, Line, Processes, Sandbox};

use crate::sandbox_support::{Place, helper};
use crate::shell_support::{Card, Scratch};

#[tokio::test]
async fn h15_a_repository_is_read_and_not_changed() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    std::fs::create_dir_all(place.root.join("sub/.git/hooks")).unwrap();
    std::fs::create_dir_all(place.root.join(".git/hooks")).unwrap();
    std::fs::write(place.root.join(".git/config"), "before").unwrap();
    std::fs::write(place.root.join("sub/.git/config"), "before").unwrap();
    for git in [".git", "sub/.git"] {
        for attempt in [
            "echo x >GIT/config",
            "echo x >GIT/hooks/pre-commit",
            "rm GIT/config",
            "rm -rf GIT; [ ! -e GIT/config ]",
            "mv GIT moved",
            "mv GIT/config moved",
            "mkdir -p new && mv -T new GIT",
            "rmdir GIT/hooks",
            "ln GIT/config hard && echo x >hard",
            "ln -s own GIT/hooks/post-merge",
            "ln -sfn /tmp GIT && [ -L GIT ]",
            "chmod 777 GIT",
            "chmod +x GIT/config",
            "touch GIT/config",
            "exec 5<GIT/config && echo x >/proc/self/fd/5",
            "cd GIT && echo x >config",
            "echo x >/proc/self/cwd/GIT/config",
            "mount -o remount,bind,rw GIT",
            "umount -l GIT",
            "unshare -Urm umount -l GIT",
            "perl -e 'exit !rename(q(own), q(GIT/config))'",
        ] {
            place.fails(&attempt.replace("GIT", git)).await;
            for config in [".git/config", "sub/.git/config"] {
                let now = std::fs::read_to_string(place.root.join(config)).unwrap();
                assert_eq!(now, "before", "{attempt}");
            }
            place.works("rm -rf moved new hard; echo own >own").await;
        }
        let mode = place.root.join(git).metadata().unwrap().mode();
        assert_ne!(mode & 0o777, 0o777);
    }
    let read = place
        .works("cat .git/config; echo x >sub/file; cat sub/file")
        .await;
    assert_eq!(read, "beforex\n");
    // A command that a person let run may commit.
    place.processes.confine(Confinement::Workspace);
    place.works("echo after >.git/config").await;
}

#[tokio::test]
async fn h15_modes_owners_times_and_attributes_outside_stay_as_they_are() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let about = || {
        let about = place.outside.join("victim").metadata().unwrap();
        (
            about.mode(),
            about.uid(),
            about.gid(),
            about.mtime_nsec(),
            about.ctime_nsec(),
        )
    };
    let before = about();
    for attempt in [
        "chmod 777 OUT/victim",
        "chown 1:1 OUT/victim",
        "chgrp 1 OUT",
        "touch OUT/victim",
        "touch -d yesterday OUT/victim",
        "perl -e 'exit !utime(1, 1, q(OUT/victim))'",
        "setfattr -n user.x -v y OUT/victim",
        "python3 -c 'import os; os.setxattr(\"OUT/victim\", \"user.x\", b\"y\")'",
        "exec 5<OUT/victim && chmod 777 /proc/self/fd/5",
        "chmod 777 /proc/self/root/OUT/victim",
        "ln -s OUT/victim link && chmod 777 link",
    ] {
        place.fails(attempt).await;
        assert_eq!(about(), before, "{attempt}");
    }
    place
        .works("chmod 700 own && touch -d yesterday own && stat own")
        .await;
}

#[tokio::test]
async fn h15_secrets_are_not_read() {
    let scratch = Scratch::new();
    let home = scratch.dir("home");
    for dir in [".ssh", "dotfiles/gnupg", ".config/ply"] {
        std::fs::create_dir_all(home.join(dir)).unwrap();
        std::fs::write(home.join(dir).join("key"), "hunter2").unwrap();
    }
    std::fs::write(home.join(".netrc"), "hunter2").unwrap();
    std::fs::write(home.join("server.pem"), "hunter2").unwrap();
    symlink("dotfiles/gnupg", home.join(".gnupg")).unwrap();
    let Some(place) = Place::unattended(|sandbox| {
        let names = [
            ".ssh",
            ".netrc",
            ".gnupg",
            ".config/ply",
            ".none",
            ".none/below",
        ];
        sandbox.hidden = names.map(|name| home.join(name)).into();
        sandbox.home = Some(home.clone());
    })
    .await
    else {
        return;
    };
    for confinement in [
        Confinement::Unattended,
        Confinement::Workspace,
        Confinement::ReadOnly,
    ] {
        place.processes.confine(confinement);
        for attempt in [
            "cat HOME/.ssh/key",
            "cat HOME/.ssh/../.ssh/key",
            "cat HOME/.netrc",
            "cat HOME/.gnupg/key HOME/dotfiles/gnupg/key",
            "cat HOME/.config/ply/key",
            "cat HOME/server.pem",
            "cp -r HOME ../temp/home; grep -r hunter ../temp/home",
            "cat /proc/1/root/HOME/.ssh/key",
            "cat /proc/self/cwd/../../HOME/.ssh/key",
            "umount HOME/.ssh; cat HOME/.ssh/key",
            "unshare -Urm sh -c 'umount HOME/.ssh; cat HOME/.ssh/key'",
            "cd HOME/.ssh && cat key",
            "perl -e 'opendir my $d, q(HOME/.ssh); chdir $d; print <>' key",
        ] {
            let ran = place
                .run(&attempt.replace("HOME", home.to_str().unwrap()))
                .await;
            assert!(!ran.output.contains("hunter2"), "{attempt}: {ran:?}");
        }
    }
    // A command outside may, once it was asked for.
    let mut line = place.line(&format!("cat {}/.ssh/key", home.display()));
    place.processes.confine(Confinement::Unattended);
    line.outside = true;
    assert_eq!(place.run_line(&line).await.output, "hunter2");
}

#[tokio::test]
async fn h15_secrets_in_a_workspace_are_not_moved_into_sight() {
    let Some(place) = Place::unattended(|sandbox| {
        let home = sandbox.temporary[0].parent().unwrap().join("root");
        sandbox.hidden = vec![home.join(".config/gh"), home.join(".netrc")];
    })
    .await
    else {
        return;
    };
    std::fs::create_dir_all(place.root.join(".config/gh")).unwrap();
    std::fs::write(place.root.join(".config/gh/hosts"), "hunter2").unwrap();
    std::fs::write(place.root.join(".netrc"), "hunter2").unwrap();
    for attempt in [
        "mv .config c; mv .config/gh g; mv .netrc n; ln .netrc n; rm .netrc",
        "grep -r hunter .",
        "cat .netrc n g/* c/gh/*",
    ] {
        let ran = place.run(attempt).await;
        assert!(!ran.output.contains("hunter2"), "{attempt}: {ran:?}");
    }
    assert!(place.root.join(".netrc").exists() && place.root.join(".config/gh/hosts").exists());
}

#[tokio::test]
async fn h15_sockets_of_other_programs_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt as _;
    let scratch = Scratch::new();
    // Such as those of a terminal, an agent for keys, a container engine and a hub.
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let [home, temporary] = [scratch.0.join("engine.sock"), shared.path().join("default")];
    let abstract_name = format!("ply-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let listeners = [
        UnixListener::bind(&home).unwrap(),
        UnixListener::bind(&temporary).unwrap(),
        UnixListener::bind_addr(&address).unwrap(),
    ];
    let usual = Sandbox::default().temporary;
    let Some(place) = Place::unattended(|sandbox| sandbox.temporary = usual).await else {
        return;
    };
    // Bound by a name that depends on where its program is.
    let relative = scratch.0.join("relative.sock");
    let mut program = std::process::Command::new("perl");
    let script = "use IO::Socket::UNIX; my $l = IO::Socket::UNIX->new(Local => q(relative.sock), Listen => 1) \
                  or die; $| = 1; print qq(up\\n); <STDIN>";
    program.args(["-e", script]).current_dir(&scratch.0);
    let pipe = std::process::Stdio::piped;
    let mut program = program.stdin(pipe()).stdout(pipe()).spawn().unwrap();
    let mut said = [0; 3];
    std::io::Read::read_exact(program.stdout.as_mut().unwrap(), &mut said).unwrap();
    for confinement in [Confinement::Unattended, Confinement::Workspace] {
        place.processes.confine(confinement);
        for path in [&home, &temporary, &relative] {
            let script = format!(
                "perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => q({}))'",
                path.display()
            );
            place.fails(&script).await;
        }
        let script = format!(
            "perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die; \
             exit !connect($s, pack_sockaddr_un(qq(\\0{abstract_name})))'"
        );
        place.fails(&script).await;
        place
            .fails("ls /run/docker.sock /run/dbus /run/user/*")
            .await;
    }
    // Its own work.
    place
        .works(
            "perl -MIO::Socket::UNIX -e 'my $l = IO::Socket::UNIX->new(Local => q(s), Listen => 1) or die; \
             exit !IO::Socket::UNIX->new(Peer => q(s))'",
        )
        .await;
    program.kill().unwrap();
    program.wait().unwrap();
    for listener in listeners {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "somebody came");
    }
}

#[tokio::test]
async fn h15_nothing_leaves_by_any_kind_of_socket() {
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let ports = [
        tcp.local_addr().unwrap().port(),
        udp.local_addr().unwrap().port(),
    ];
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let [tcp_port, udp_port] = ports;
    place
        .fails(&format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port}"))
        .await;
    // It is sent to the loopback device of its own network.
    place
        .run(&format!("echo x >/dev/udp/127.0.0.1/{udp_port}"))
        .await;
    place.fails("echo x >/dev/udp/192.0.2.1/53").await;
    place.fails("exec 3<>/dev/tcp/192.0.2.1/80").await;
    for (family, kind) in [
        ("AF_INET", "SOCK_RAW"),
        ("17", "SOCK_RAW"),
        ("40", "SOCK_STREAM"),
        ("38", "5"),
    ] {
        let script = format!("perl -MSocket -e 'exit !socket(my $s, {family}, {kind}, 0)'");
        place.fails(&script).await;
    }
    udp.set_nonblocking(true).unwrap();
    tcp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0; 8]).is_err() && tcp.accept().is_err());
    // Servers and their clients in one command are tests of most programs.
    let script = "perl -MIO::Socket::INET -e 'my $l = IO::Socket::INET->new(LocalAddr => q(127.0.0.1), \
                  Listen => 1) or die; exit !IO::Socket::INET->new(PeerAddr => q(127.0.0.1), PeerPort => $l->sockport)'";
    place.works(script).await;
}

#[tokio::test]
async fn h15_system_calls_around_the_sandbox_fail() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    for attempt in [
        // io_uring_setup, keyctl, add_key, bpf, open_by_handle_at, perf_event_open, userfaultfd.
        "exit !(syscall(425, 1, 0) >= 0)",
        "exit !(syscall(250, 0, -3, 1) >= 0)",
        "exit !(syscall(248, q(user), q(x), q(y), 1, -3) >= 0)",
        "exit !(syscall(321, 0, 0, 0) >= 0)",
        "exit !($! != 1 && syscall(304, -100, 0, 0) < 0 && $! != 1)",
        "exit !(syscall(323, 1) >= 0)",
        // The x32 interface has the same calls under other numbers.
        "exit !(syscall(0x40000000 + 39) > 0)",
        // New namespaces, by unshare, by clone and by clone3.
        "exit !(syscall(272, 0x10000000) == 0)",
        "exit !(syscall(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0)",
        "my $a = pack(q(Q11), 0x10000000, (0) x 10); exit !(syscall(435, $a, 88) >= 0)",
    ] {
        #[cfg(target_arch = "x86_64")]
        place.fails(&format!("perl -e '{attempt}'")).await;
        #[cfg(not(target_arch = "x86_64"))]
        let _ = attempt;
    }
    for attempt in [
        "unshare -U true",
        "unshare -n true",
        "chroot / true",
        "mknod dev b 254 0",
        "head -c 1 /dev/vda /dev/sda /dev/mem /dev/kmsg",
        "echo 1 >/proc/sys/kernel/sysrq",
        "echo x >/proc/sysrq-trigger",
        "mkdir /sys/fs/cgroup/x",
        "echo 0 >/proc/self/loginuid",
        "sudo -n true",
        "ping -c 1 -W 1 192.0.2.1",
    ] {
        place.fails(attempt).await;
    }
}

#[tokio::test]
async fn h15_other_processes_are_not_there() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let agent = std::process::id();
    let seen = place
        .works("ls /proc | grep -c '^[0-9]'; cat /proc/1/comm")
        .await;
    let count: u32 = seen.lines().next().unwrap().parse().unwrap();
    assert!(count < 10, "{seen}");
    let said = place
        .works("kill -9 1; kill -STOP 1; kill -TERM -1 2>/dev/null; echo alive")
        .await;
    assert_eq!(said, "alive\n");
    for attempt in [
        "cat /proc/1/environ",
        "head -c 1 /proc/1/mem",
        "readlink /proc/1/fd/3",
        "strace -p 1",
        "perl -e 'exit !(syscall(101, 16, 1, 0, 0) == 0)'",
    ] {
        place.fails(attempt).await;
    }
    place.fails(&format!("kill -0 {agent}")).await;
    // Its own children are its own.
    place.works("sleep 1000 & kill $!; ! wait $!").await;
}

#[tokio::test]
async fn c6_whatever_a_command_left_behind_ends_with_it() {
    let Some(place) = Place::unattended(|sandbox| {
        let around = sandbox.temporary[0].parent().unwrap();
        sandbox.writable = vec![around.to_owned()];
    })
    .await
    else {
        return;
    };
    let witness = place.scratch.witness();
    // In a session of its own, without a parent and an environment, deaf to signals; and the command ends
    // before it.
    let script = "exec 9>../witness; env -i setsid sh -c 'trap \"\" TERM HUP INT; \
                  (setsid sleep 1000 >/dev/null 2>&1 &); echo x >up; exec sleep 1000 >/dev/null 2>&1' & \
                  disown; until [ -e up ]; do :; done; echo done";
    assert_eq!(place.works(script).await, "done\n");
    witness.gone().await;
}

#[tokio::test]
async fn h15_a_fork_bomb_ends_with_its_time() {
    let Some(place) = Place::unattended(|sandbox| {
        let around = sandbox.temporary[0].parent().unwrap();
        sandbox.writable = vec![around.to_owned()];
        sandbox.bounds.processes = Some(310);
    })
    .await
    else {
        return;
    };
    let witness = place.scratch.witness();
    let bomb =
        "exec 9>../witness; bomb() { bomb & bomb & sleep 1000; }; bomb 2>/dev/null; sleep 1000";
    let mut line = place.line(bomb);
    line.time = Duration::from_secs(1);
    let ran = place.run_line(&line).await;
    assert_eq!(ran.cause, Cause::Time, "{ran:?}");
    witness.gone().await;
    place.works("echo the next one runs").await;
}

#[tokio::test]
async fn h15_memory_and_files_are_bounded() {
    let Some(place) = Place::unattended(|sandbox| {
        sandbox.bounds.memory = Some(128 << 20);
        sandbox.bounds.file = Some(1 << 20);
    })
    .await
    else {
        return;
    };
    let ran = place
        .run("perl -e '$x = q(a) x (256 << 20); sleep 1000'")
        .await;
    assert_eq!(
        (ran.exit, ran.cause),
        (Exit::Signal(9), Cause::Itself),
        "{ran:?}"
    );
    assert!(
        ran.output.contains("more than 128 MiB of memory"),
        "{ran:?}"
    );
    let ran = place.fails("head -c 4194304 /dev/zero >big").await;
    assert_eq!(
        place.root.join("big").metadata().unwrap().len(),
        1 << 20,
        "{ran:?}"
    );
}

#[tokio::test]
async fn temporary_files_belong_to_the_session() {
    let usual = Sandbox::default().temporary;
    let Some(place) = Place::unattended(|sandbox| sandbox.temporary = usual).await else {
        return;
    };
    let name = format!("ply-own-{}", std::process::id());
    place
        .works(&format!("echo x >/tmp/{name} && echo x >/var/tmp/{name}"))
        .await;
    let read = place
        .works(&format!("cat /tmp/{name} /var/tmp/{name}; ls /tmp"))
        .await;
    assert_eq!(read, format!("x\nx\n{name}\n"));
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    let other = Place::unattended(|_| {}).await.unwrap();
    other.fails(&format!("cat /tmp/{name}")).await;
    place
        .works("mktemp && python3 -c 'import tempfile; tempfile.TemporaryFile()' || true")
        .await;
}

#[tokio::test]
async fn temporary_files_have_a_place_wherever_the_users_are() {
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let below = shared.path().to_owned();
    let with = |first: &[std::path::PathBuf]| {
        let mut temporary = first.to_vec();
        temporary.extend(Sandbox::default().temporary);
        move |sandbox: &mut Sandbox| sandbox.temporary = temporary
    };
    // Of the user's: one that lies in another, one that is gone, one of its own.
    let own = Scratch::new();
    for (users, expected) in [
        (below.clone(), "/tmp"),
        ("/nowhere/tmp".into(), "/tmp"),
        (own.0.clone(), own.0.to_str().unwrap()),
    ] {
        let Some(place) = Place::unattended(with(std::slice::from_ref(&users))).await else {
            return;
        };
        let said = place
            .works("f=$(mktemp) && echo x >$f && echo $TMPDIR ${f%/*}")
            .await;
        assert_eq!(said, format!("{expected} {expected}\n"), "{users:?}");
    }
}

#[tokio::test]
async fn h14_without_a_complete_sandbox_nothing_runs_unattended() {
    let scratch = Scratch::new();
    let real = helper();
    let partly = scratch.0.join("partly");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *--apart*) echo 'there are no namespaces for the command: forbidden' >&2; \
         exit 124;; esac\nexec '{}' \"$@\"\n",
        real.display()
    );
    std::fs::write(&partly, script).unwrap();
    std::fs::set_permissions(&partly, std::fs::Permissions::from_mode(0o700)).unwrap();
    for (helper, runs_attended) in [
        (None, true),
        (Some("/bin/true".into()), true),
        (Some(partly), true),
    ] {
        let mut sandbox = Sandbox::default();
        sandbox.helper = helper.clone();
        let processes = Processes::new(sandbox.clone(), scratch.0.join("logs"));
        let line = Line::new("echo ran >ran", &scratch.0);
        processes.confine(Confinement::Unattended);
        let refused = processes.run(&line, &Card::new()).await;
        assert!(
            matches!(refused, Err(Error::SandboxRequired(_))),
            "{helper:?}: {refused:?}"
        );
        let refused = processes.start(&line).await;
        assert!(
            matches!(refused, Err(Error::SandboxRequired(_))),
            "{refused:?}"
        );
        assert!(!scratch.0.join("ran").exists());
        assert!(processes.sandbox_notice().is_some());
        // Where a person looks at each command, it runs with what there is.
        processes.confine(Confinement::Workspace);
        let ran = processes.run(&line, &Card::new()).await;
        assert_eq!(ran.is_ok(), runs_attended, "{ran:?}");
        std::fs::remove_file(scratch.0.join("ran")).unwrap();
        // Unless the user says otherwise, both ways.
        sandbox.required = Some(false);
        let processes = Processes::new(sandbox.clone(), scratch.0.join("logs"));
        processes.confine(Confinement::Unattended);
        assert!(processes.run(&line, &Card::new()).await.is_ok());
        std::fs::remove_file(scratch.0.join("ran")).unwrap();
        sandbox.required = Some(true);
        let processes = Processes::new(sandbox, scratch.0.join("logs"));
        assert!(processes.run(&line, &Card::new()).await.is_err());
    }
}
