use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::task::{Context, Waker};

use super::*;
use crate::sqlite::run::Key;

fn held() -> Arc<Held> {
    Arc::new(Held {
        number: 1,
        lease: 1,
        key: Key::new("a", 1),
        over: OnceLock::new(),
        unwritten: AtomicUsize::new(0),
    })
}

fn frames(bytes: usize) -> Frames {
    Frames::new(&[vec![0; bytes]]).unwrap()
}

/// An append that is being awaited.
type Appending<'a> = std::pin::Pin<Box<dyn Future<Output = Result<(), Trouble>> + 'a>>;

fn append<'a>(
    queue: &'a Queue,
    held: &'a Arc<Held>,
    bytes: usize,
    when: Durability,
) -> Appending<'a> {
    Box::pin(queue.append(held, frames(bytes), when))
}

/// Returns whether it is accepted, or written, by now.
fn is_done(append: &mut Appending<'_>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    append.as_mut().poll(&mut cx).is_ready()
}

fn jobs(next: Next) -> (Vec<Job>, usize) {
    match next {
        Next::Jobs(jobs, bytes) => (jobs, bytes),
        next => panic!("{next:?}"),
    }
}

const SOON: Durability = Durability::Soon;
const NOW: Durability = Durability::Now;

#[test]
fn no_more_waits_than_256_kib() {
    let (queue, held) = (Queue::new(), held());
    let mut accepted = 0;
    while is_done(&mut append(&queue, &held, 1000, SOON)) {
        accepted += 1;
        assert!(accepted < 1000, "there is no limit");
    }
    assert!((200..=256).contains(&accepted), "{accepted}");
    // One that came too late is accepted when the others are written.
    let mut late = append(&queue, &held, 1000, SOON);
    assert!(!is_done(&mut late));
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!(taken.len(), accepted);
    assert!(bytes <= WAITING_BYTES_MAX);
    assert!(!is_done(&mut late));
    queue.done(bytes, false);
    assert!(is_done(&mut late));
    assert_eq!(held.unwritten.load(Ordering::Relaxed), accepted + 1);
}

#[test]
fn an_append_larger_than_the_limit_waits_alone() {
    let (queue, held) = (Queue::new(), held());
    assert!(is_done(&mut append(&queue, &held, 10, SOON)));
    let mut large = append(&queue, &held, 1_000_000, SOON);
    assert!(!is_done(&mut large));
    // Nobody passes it.
    let mut small = append(&queue, &held, 10, SOON);
    assert!(!is_done(&mut small));
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!(taken.len(), 1);
    queue.done(bytes, false);
    assert!(is_done(&mut large));
    assert!(!is_done(&mut small));
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!((taken.len(), bytes), (1, WAITING_BYTES_MAX));
    queue.done(bytes, false);
    assert!(is_done(&mut small));
}

#[test]
fn half_of_the_limit_is_written_at_once_and_less_within_20_ms() {
    let (queue, held) = (Queue::new(), held());
    let begin = now();
    assert!(is_done(&mut append(&queue, &held, 10, SOON)));
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!(taken.len(), 1);
    assert!(
        begin.elapsed() >= GROUP_TIME_MAX,
        "others could have joined"
    );
    queue.done(bytes, false);
    for _ in 0..2 {
        assert!(is_done(&mut append(&queue, &held, GROUP_BYTES / 2, SOON)));
    }
    // With a time that has no end, this would not return.
    let (taken, _) = jobs(queue.next(None));
    assert_eq!(taken.len(), 2);
}

#[test]
fn whoever_waits_has_all_before_it_written_at_once() {
    let (queue, held) = (Queue::new(), held());
    assert!(is_done(&mut append(&queue, &held, 10, SOON)));
    let mut now = append(&queue, &held, 10, NOW);
    assert!(!is_done(&mut now));
    let (mut taken, bytes) = jobs(queue.next(None));
    assert_eq!(taken.len(), 2);
    let Some(Job::Append {
        tell: Some(tell), ..
    }) = taken.pop()
    else {
        panic!("{taken:?}");
    };
    tell.send(Ok(())).unwrap();
    queue.done(bytes, false);
    assert!(is_done(&mut now));
}

#[test]
fn after_a_failure_nothing_is_accepted_before_its_outcome() {
    let (queue, held) = (Queue::new(), held());
    assert!(is_done(&mut append(&queue, &held, 10, SOON)));
    let (_kept, bytes) = jobs(queue.next(None));
    queue.done(bytes, true);
    let mut append = append(&queue, &held, 10, SOON);
    assert!(!is_done(&mut append));
    let (mut taken, bytes) = jobs(queue.next(None));
    let Some(Job::Append {
        tell: Some(tell), ..
    }) = taken.pop()
    else {
        panic!("{taken:?}");
    };
    tell.send(Err(Trouble::Full)).unwrap();
    queue.done(bytes, true);
    assert!(is_done(&mut append));
}

#[test]
fn nobody_waits_for_a_writer_that_is_gone() {
    let (queue, held) = (Queue::new(), held());
    while is_done(&mut append(&queue, &held, 1000, SOON)) {}
    let mut no_room = append(&queue, &held, 1000, SOON);
    assert!(!is_done(&mut no_room));
    queue.end();
    assert!(is_done(&mut no_room));
    assert!(is_done(&mut append(&queue, &held, 1, NOW)));
    queue.wait_settled(Duration::MAX);
}
