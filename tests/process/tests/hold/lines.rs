//! No line is lost, and none comes twice.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use process_tests::within;

use super::*;

fn encode(kind: u8, number: u64, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(9 + body.len()).unwrap();
    [
        &length.to_le_bytes()[..],
        &[kind],
        &number.to_le_bytes(),
        body,
    ]
    .concat()
}

/// Connects as a hub that writes bytes by itself, and says who it is.
fn connect_by_hand(place: &Place, epoch: u64) -> UnixStream {
    let socket = place.holders.join(format!("{HELD}.sock"));
    let stream = UnixStream::connect(socket).unwrap();
    let hello = format!("{{\"protocol\":1,\"epoch\":{epoch}}}");
    std::io::Write::write_all(&mut &stream, &encode(0, 0, hello.as_bytes())).unwrap();
    stream
}

#[tokio::test]
async fn a_line_is_kept_for_every_hub_until_one_acknowledges_it() {
    let place = Place::start(shell("echo one; echo two; printf three; exec cat")).await;
    let mut hub = place.connect(1).await;
    assert_eq!(hub.line().await, (1, "one".to_owned()));
    assert_eq!(hub.line().await, (2, "two".to_owned()));
    drop(hub);
    let mut hub = place.connect(2).await;
    assert_eq!(hub.0.pipe.hello.first_out, 1);
    assert_eq!(hub.line().await, (1, "one".to_owned()));
    hub.acknowledge(1).await;
    // An answer shows that what was said before it was heard.
    hub.stderr().await;
    drop(hub);
    let mut hub = place.connect(3).await;
    let hello = hub.0.pipe.hello;
    assert_eq!((hello.first_out, hello.last_out, hello.last_in), (2, 2, 0));
    assert_eq!(hub.line().await, (2, "two".to_owned()));
    hub.give(1, " and the rest").await;
    assert_eq!(hub.line().await, (3, "three and the rest".to_owned()));
    hub.bury(&place).await;
}

#[tokio::test]
async fn a_line_that_a_hub_sends_again_is_written_once() {
    let place = Place::start(shell("exec cat")).await;
    for epoch in 1..20 {
        let mut hub = place.connect(epoch).await;
        // It does not remember what was written.
        for number in 1..=epoch {
            hub.give(number, format!("line {number}")).await;
        }
        assert_eq!(hub.line().await, (epoch, format!("line {epoch}")));
        hub.acknowledge(epoch).await;
        hub.stderr().await;
    }
    let hub = place.connect(20).await;
    assert_eq!(hub.0.pipe.hello.last_in, 19);
    assert_eq!(hub.0.pipe.hello.last_out, 19);
    hub.bury(&place).await;
}

#[tokio::test]
async fn line_feeds_inside_a_line_become_spaces() {
    let place = Place::start(shell("exec cat")).await;
    let mut hub = place.connect(1).await;
    hub.give(1, "{\n\"a\": 1\n}").await;
    assert_eq!(hub.line().await, (1, "{ \"a\": 1 }".to_owned()));
    hub.bury(&place).await;
}

#[tokio::test]
async fn a_line_of_which_a_hub_sent_half_is_not_written() {
    let place = Place::start(shell("exec cat")).await;
    let frame = encode(3, 1, b"the whole line");
    for (epoch, end) in (1..).zip(0..frame.len()) {
        let stream = connect_by_hand(&place, epoch);
        std::io::Write::write_all(&mut &stream, &frame[..end]).unwrap();
    }
    let mut hub = place.connect(1000).await;
    assert_eq!(hub.0.pipe.hello.last_in, 0);
    hub.give(1, "another line").await;
    assert_eq!(hub.line().await, (1, "another line".to_owned()));
    hub.bury(&place).await;
}

#[tokio::test]
async fn whoever_sends_no_frames_is_cut_off_and_the_agent_goes_on() {
    let place = Place::start(shell("exec cat")).await;
    let mut good = place.connect(1).await;
    let socket = place.holders.join(format!("{HELD}.sock"));
    let strangers: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 64],
        &[0xff; 64],
        &encode(3, 1, b"a line before hello"),
        &encode(0, 0, b"{\"protocol\":1}"),
    ];
    for bytes in strangers {
        let stream = UnixStream::connect(&socket).unwrap();
        std::io::Write::write_all(&mut &stream, bytes).unwrap();
        let mut answer = Vec::new();
        std::io::Read::read_to_end(&mut &stream, &mut answer).ok();
        assert_eq!(answer, b"");
    }
    good.give(1, "still there").await;
    assert_eq!(good.line().await, (1, "still there".to_owned()));
    // Also one that is let in.
    for bytes in [encode(6, 0, b"{}"), encode(3, 2, b"a\nb"), vec![0; 4]] {
        let stream = connect_by_hand(&place, 2);
        std::io::Write::write_all(&mut &stream, &bytes).unwrap();
        let mut answer = Vec::new();
        // It may also find that what it wrote was not read.
        std::io::Read::read_to_end(&mut &stream, &mut answer).ok();
    }
    let mut hub = place.connect(3).await;
    hub.acknowledge(1).await;
    hub.give(2, "and now").await;
    while hub.line().await != (2, "and now".to_owned()) {}
    hub.bury(&place).await;
}

/// How much of the holder is in memory, in MiB.
fn resident_mib(pid: u64) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib: u64 = line
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib / 1024
}

#[tokio::test]
async fn an_agent_that_floods_waits_until_its_lines_are_acknowledged() {
    const LINE_BYTES: usize = 100_000;
    const LINES: u64 = 1500;
    let script = format!(
        "line=$(head -c {LINE_BYTES} /dev/zero | tr '\\0' x); i=0
        while [ $i -lt {LINES} ]; do echo \"$line\"; i=$((i + 1)); done; exec cat"
    );
    let place = Place::start(shell(&script)).await;
    let mut hub = place.connect(1).await;
    let mut last = 0;
    // Without acknowledgements there is an end to what comes. Answers show that the holder has had its turn.
    let mut silent = 0;
    let limit = 64 << 20;
    let kept = |last: u64| usize::try_from(last).unwrap() * (LINE_BYTES + 13);
    // The line after these is in the holder or in the pipe.
    let is_full = |last| kept(last).abs_diff(limit) < 3 * LINE_BYTES;
    // An agent that did not get its turn is silent too.
    let until = tokio::time::Instant::now() + Duration::from_secs(60);
    while silent < 50 || (!is_full(last) && tokio::time::Instant::now() < until) {
        tokio::select! {
            biased;
            news = hub.0.pipe.from.recv() => match news {
                Some(FromAgent::Line { number, line }) => {
                    assert_eq!((number, line.len()), (last + 1, LINE_BYTES));
                    last = number;
                    silent = 0;
                }
                other => panic!("{other:?}"),
            },
            _ = async {
                hub.0.control.stderr().await.unwrap();
                tokio::task::yield_now().await;
            } => silent += 1,
        }
    }
    assert!(is_full(last), "{}", kept(last));
    assert!(resident_mib(place.holder()) < 100);
    hub.acknowledge(last).await;
    while last < LINES {
        let (number, line) = hub.line().await;
        assert_eq!((number, line.len()), (last + 1, LINE_BYTES));
        hub.acknowledge(number).await;
        last = number;
    }
    hub.give(1, "end").await;
    assert_eq!(hub.line().await, (LINES + 1, "end".to_owned()));
    hub.acknowledge(LINES + 1).await;
    hub.stderr().await;
    assert!(resident_mib(place.holder()) < 32, "memory is given back");
    hub.bury(&place).await;
}

#[tokio::test]
async fn an_agent_that_reads_nothing_does_not_keep_its_lines_from_the_hub() {
    let script =
        "i=0; while [ $i -lt 1000 ]; do echo $i; i=$((i + 1)); done; read go; exec sleep 1000";
    let place = Place::start(shell(script)).await;
    let mut hub = place.connect(1).await;
    let filler = Bytes::from(vec![b'x'; 1 << 20]);
    for number in 1..=20 {
        hub.give(number, filler.clone()).await;
    }
    for number in 1..=1000 {
        assert_eq!(hub.line().await, (number, (number - 1).to_string()));
        hub.acknowledge(number).await;
    }
    hub.stderr().await;
    drop(hub);
    let hub = place.connect(2).await;
    assert_eq!(hub.0.pipe.hello.first_out, 1001);
    assert!(hub.0.pipe.hello.last_in < 20);
    hub.bury(&place).await;
}

#[tokio::test]
async fn long_lines_pass_both_ways() {
    let place = Place::start(shell("exec cat")).await;
    let line = Bytes::from(vec![b'x'; 20 << 20]);
    let mut hub = place.connect(1).await;
    hub.give(1, line.clone()).await;
    let (number, echo) = hub.line().await;
    assert_eq!((number, echo.len()), (1, line.len()));
    drop(hub);
    let mut hub = place.connect(2).await;
    assert_eq!(hub.line().await.1.len(), line.len());
    hub.acknowledge(1).await;
    hub.give(2, "short").await;
    assert_eq!(hub.line().await, (2, "short".to_owned()));
    within(SECONDS, hub.bury(&place)).await;
}
