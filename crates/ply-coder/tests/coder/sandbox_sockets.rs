//! Connections of commands: to their own sockets, and to nobody else's. Needs a kernel with the whole sandbox.

use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;

use ply_coder::shell::Confinement;
use tokio::time::timeout;

use crate::sandbox_support::Place;
use crate::shell_support::PATIENCE;

const CONNECT: &str = "perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(Peer => shift)'";

/// Starts a command that waits for a line before it reaches for a socket, and returns how that went.
async fn later(place: &Place, command: &str, socket: &Path, make: impl FnOnce()) -> String {
    let script = format!(
        "echo up; read go; {command} {} && echo reached || echo kept off; echo over",
        socket.display()
    );
    let id = place.processes.start(&place.line(&script)).await.unwrap();
    until(place, &id, "up\n").await;
    make();
    place.processes.write(&id, Some("go\n")).await.unwrap();
    until(place, &id, "over\n").await
}

/// Waits until a process has said this, and returns all that it said since somebody last listened.
async fn until(place: &Place, id: &str, words: &str) -> String {
    let mut said = String::new();
    while !said.contains(words) {
        let more = timeout(PATIENCE, place.processes.output(id, PATIENCE)).await;
        said += &more.expect("it says nothing").unwrap();
        let listed = place.processes.list();
        let runs = listed.iter().any(|it| it.id == id && it.exit.is_none());
        assert!(runs || said.contains(words), "it ended: {said}");
    }
    said
}

fn nobody_came(listener: &UnixListener) {
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody came");
}

#[tokio::test]
async fn h15_a_socket_that_is_made_while_a_command_runs_is_out_of_reach() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    for confinement in [Confinement::Unattended, Confinement::Workspace] {
        place.processes.confine(confinement);
        let socket = place.outside.join(format!("{confinement:?}.sock"));
        let mut listener = None;
        let make = || listener = Some(UnixListener::bind(&socket).unwrap());
        let said = later(&place, CONNECT, &socket, make).await;
        assert!(said.contains("kept off"), "{confinement:?}: {said}");
        nobody_came(&listener.unwrap());
        // Nor by a link from a place of its own, or from where it lies.
        let [name, folder] = [&socket, &place.outside].map(|path| path.display().to_string());
        let script = format!("ln -sf {name} link; {CONNECT} link; a=$?; cd {folder}; ");
        let script = format!("{script}{CONNECT} {confinement:?}.sock || test $a = 0");
        place.fails(&script).await;
    }
    place.processes.end_all().await;
}

#[tokio::test]
async fn h15_no_packet_reaches_a_socket_that_is_made_while_a_command_runs() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    // By an address for each packet: of a socket, of one half of a pair, and of the kind that the kernel takes
    // for the same.
    let send = r#"
use strict; use Socket; my $to = pack_sockaddr_un(shift); my $sent = 0;
for my $kind (SOCK_DGRAM, SOCK_RAW) {
    if (socket(my $one, AF_UNIX, $kind, 0)) {
        $sent++ if defined send($one, "x", 0, $to);
        $sent++ if connect($one, $to) and defined send($one, "x", 0);
    }
    if (socketpair(my $half, my $other, AF_UNIX, $kind, 0)) {
        $sent++ if defined send($half, "x", 0, $to);
    }
}
exit !$sent;
"#;
    std::fs::write(place.root.join("send.pl"), send).unwrap();
    for confinement in [Confinement::Unattended, Confinement::Workspace] {
        place.processes.confine(confinement);
        let socket = place.outside.join(format!("{confinement:?}.log"));
        let mut listener = None;
        let make = || listener = Some(UnixDatagram::bind(&socket).unwrap());
        let said = later(&place, "perl send.pl", &socket, make).await;
        let listener = listener.unwrap();
        listener.set_nonblocking(true).unwrap();
        assert!(listener.recv(&mut [0]).is_err(), "{confinement:?}: {said}");
        assert!(said.contains("kept off"), "{confinement:?}: {said}");
    }
    // Streams between two processes of a command are nobody else's affair.
    place
        .works("perl -MSocket -e 'exit !socketpair(my $a, my $b, AF_UNIX, SOCK_STREAM, 0)'")
        .await;
    place.processes.end_all().await;
}

#[tokio::test]
async fn h15_sockets_of_other_programs_in_the_project_are_out_of_reach_where_nobody_looks() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let listener = UnixListener::bind(place.root.join("editor.sock")).unwrap();
    place.fails(&format!("{CONNECT} editor.sock")).await;
    place
        .fails(&format!("mv editor.sock other; {CONNECT} other"))
        .await;
    nobody_came(&listener);
    // Also one that is made while the command runs, and has another name since.
    let (made, socket) = (place.root.join("made"), place.root.join("late.sock"));
    let mut late = None;
    let make = || {
        late = Some(UnixListener::bind(&made).unwrap());
        std::fs::rename(&made, &socket).unwrap();
    };
    let said = later(&place, CONNECT, &socket, make).await;
    assert!(said.contains("kept off"), "{said}");
    nobody_came(&late.unwrap());
    // One that another command listens on is not somebody else's.
    let server = "perl -MIO::Socket::UNIX -e 'my $l = IO::Socket::UNIX->new(Local => q(server.sock), \
                  Listen => 1) or die; $| = 1; print qq(up\\n); $l->accept; <STDIN>'";
    let id = place.processes.start(&place.line(server)).await.unwrap();
    until(&place, &id, "up\n").await;
    place.works(&format!("{CONNECT} server.sock")).await;
    place.processes.end_all().await;
}

#[tokio::test]
async fn a_command_connects_to_sockets_of_its_own_in_every_way() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    let sockets = r#"
use strict; use Socket; use IO::Socket::UNIX; use IO::Socket::INET; use Fcntl;
mkdir "d"; my @kept;
for my $path ("s", "./d/../d/t", "$ENV{PWD}/d/u", "$ENV{TMPDIR}/v", "/dev/shm/w") {
    push @kept, IO::Socket::UNIX->new(Local => $path, Listen => 4) or die "$path: $!";
    push @kept, IO::Socket::UNIX->new(Peer => $path) or die "$path: $!";
}
symlink "s", "link"; push @kept, IO::Socket::UNIX->new(Peer => "link") or die "link: $!";
chdir "d"; push @kept, IO::Socket::UNIX->new(Peer => "t") or die "t: $!"; chdir "..";
# In the abstract namespace, which is that of the command's network.
socket(my $a, AF_UNIX, SOCK_STREAM, 0); bind($a, pack_sockaddr_un("\0own")) or die $!; listen($a, 1);
socket(my $b, AF_UNIX, SOCK_STREAM, 0); connect($b, pack_sockaddr_un("\0own")) or die "abstract: $!";
# By the network, also one that does not wait.
my $l = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 4) or die $!;
push @kept, IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $l->sockport) or die "tcp: $!";
push @kept, IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => 9, Proto => "udp") or die "udp: $!";
socket(my $n, AF_INET, SOCK_STREAM, 0); fcntl($n, F_SETFL, O_NONBLOCK);
connect($n, pack_sockaddr_in($l->sockport, INADDR_LOOPBACK)) or $!{EINPROGRESS} or die "later: $!";
# What fails, fails as everywhere.
for my $try (["none", "ENOENT"], ["d", "ECONNREFUSED"], ["own", "ECONNREFUSED"]) {
    socket(my $s, AF_UNIX, SOCK_STREAM, 0);
    die "$try->[0]: $!" if connect($s, pack_sockaddr_un($try->[0])) or !$!{$try->[1]};
}
socket(my $c, AF_INET, SOCK_STREAM, 0); my $gone = pack_sockaddr_in(1, INADDR_LOOPBACK);
die "port 1: $!" if connect($c, $gone) or !$!{ECONNREFUSED};
open(my $file, "<", "own"); die "file: $!" if connect($file, $gone) or !$!{ENOTSOCK};
print "all\n";
"#;
    std::fs::write(place.root.join("sockets.pl"), sockets).unwrap();
    assert_eq!(place.works("perl sockets.pl").await, "all\n");
    // From a thread that is not the first one of its process.
    if Path::new("/usr/bin/python3").exists() {
        let threads = "import socket, threading, sys\n\
            l = socket.socket(socket.AF_UNIX); l.bind('py'); l.listen(64)\n\
            bad = []\n\
            def one():\n    try: socket.socket(socket.AF_UNIX).connect('py')\n    except OSError as e: bad.append(e)\n\
            ts = [threading.Thread(target=one) for _ in range(32)]\n\
            [t.start() for t in ts]; [t.join() for t in ts]\nsys.exit(str(bad) if bad else 0)\n";
        std::fs::write(place.root.join("threads.py"), threads).unwrap();
        place.works("python3 threads.py").await;
    }
}

#[tokio::test]
async fn a_connection_that_takes_long_holds_up_no_other_and_ends_with_its_command() {
    let Some(place) = Place::unattended(|_| {}).await else {
        return;
    };
    // The queue of a listener that accepts nobody is full after two; the next ones wait.
    let script = "perl -MIO::Socket::UNIX -e '
        my $l = IO::Socket::UNIX->new(Local => q(full), Listen => 1) or die;
        my $o = IO::Socket::UNIX->new(Local => q(other), Listen => 4) or die;
        for (1 .. 4) { fork or do { my $s = IO::Socket::UNIX->new(Peer => q(full)); sleep } }
        my @kept = map { IO::Socket::UNIX->new(Peer => q(other)) or die } 1 .. 4;
        $| = 1; print qq(done\\n); sleep'";
    let id = place.processes.start(&place.line(script)).await.unwrap();
    until(&place, &id, "done\n").await;
    let stopped = timeout(PATIENCE, place.processes.stop(&id)).await;
    stopped.expect("it does not end").unwrap();
}
