use std::task::{Context, Waker};

use super::*;
use crate::sqlite::run::{Frames, Key};

fn held() -> Arc<Held> {
    Arc::new(Held::new(1, 1, Key::new("a", 1)))
}

fn frames(bytes: usize) -> Frames {
    Frames::new(&[vec![0; bytes]]).unwrap()
}

/// An append that is being awaited.
type Appending = std::pin::Pin<Box<dyn Future<Output = Result<(), Trouble>>>>;

fn append(queue: &Queue, held: &Arc<Held>, bytes: usize, when: Durability) -> Appending {
    let queued = queue.append(Append::new(held, frames(bytes), None, when));
    Box::pin(async move {
        match queued? {
            Some(told) => outcome(told).await,
            None => Ok(()),
        }
    })
}

/// Returns whether it is accepted, or written, by now.
fn is_done(append: &mut Appending) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    append.as_mut().poll(&mut cx).is_ready()
}

fn jobs(next: Next) -> (Vec<Job>, usize) {
    match next {
        Next::Jobs(jobs, bytes) => (jobs, bytes),
        next => panic!("{next:?}"),
    }
}

/// Tells whoever waits for an append what came of it.
#[track_caller]
fn tell(job: Option<Job>, outcome: Result<(), Trouble>) {
    match job {
        Some(Job::Append(Append {
            held,
            tell: Some(tell),
            ..
        })) => held.tell(tell, outcome),
        job => panic!("{job:?}"),
    }
}

const SOON: Durability = Durability::Accepted;
const NOW: Durability = Durability::Durable;

#[test]
fn no_more_waits_than_256_kib() {
    let (queue, held) = (Queue::new(), held());
    let mut accepted = 0;
    while is_done(&mut append(&queue, &held, 1000, SOON)) {
        accepted += 1;
        assert!(accepted < 1000, "there is no limit");
    }
    assert!((200..=256).contains(&accepted), "{accepted}");
    // Those that came too late are accepted when the others are written, also the one that nobody
    // waits for any more.
    let mut late = append(&queue, &held, 1000, SOON);
    assert!(!is_done(&mut late));
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!(taken.len(), accepted);
    assert!(bytes <= WAITING_BYTES_MAX);
    assert!(!is_done(&mut late));
    queue.done(bytes, false);
    assert!(is_done(&mut late));
    assert_eq!(held.unwritten(), accepted + 2);
    assert_eq!(jobs(queue.next(None)).0.len(), 2);
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
    tell(taken.pop(), Ok(()));
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
    tell(taken.pop(), Err(Trouble::Full));
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

#[test]
fn whoever_waits_for_a_written_record_does_not_wait_for_others() {
    let (queue, held) = (Queue::new(), held());
    let _accepted = append(&queue, &held, 10, SOON);
    assert!(!queue.lock().hurry);
    let mut written = append(&queue, &held, 10, Durability::Written);
    assert!(queue.lock().hurry);
    assert!(!is_done(&mut written));
}

/// Returns the sizes of appends, in the order of the queue.
fn sizes(jobs: &[Job]) -> Vec<usize> {
    let size = |job: &Job| match job {
        Job::Append(append) => append.frames.len() - 8,
        job => panic!("{job:?}"),
    };
    jobs.iter().map(size).collect()
}

#[test]
fn appends_are_queued_in_the_order_of_the_calls_whether_or_not_there_is_room() {
    let (queue, held) = (Queue::new(), held());
    let mut appends: Vec<Appending> = [100_000, 200_000, 10, 300_000, 20]
        .into_iter()
        .map(|bytes| append(&queue, &held, bytes, SOON))
        .collect();
    let mut seen = Vec::new();
    while seen.len() < 5 {
        let (taken, bytes) = jobs(queue.next(None));
        seen.extend(sizes(&taken));
        queue.done(bytes, false);
    }
    assert_eq!(seen, [100_000, 200_000, 10, 300_000, 20]);
    assert!(appends.iter_mut().all(is_done));
}

#[test]
fn a_lease_is_given_back_after_what_waits_for_room() {
    let (queue, held) = (Queue::new(), held());
    drop(append(&queue, &held, 300_000, SOON));
    drop(append(&queue, &held, 10, SOON));
    queue.release(Arc::clone(&held), false);
    let (taken, bytes) = jobs(queue.next(None));
    assert_eq!(sizes(&taken), [300_000]);
    queue.done(bytes, false);
    let (taken, _) = jobs(queue.next(None));
    assert!(
        matches!(&taken[..], [Job::Append(_), Job::Release { .. }]),
        "{taken:?}"
    );
}

#[test]
fn nothing_is_accepted_behind_an_append_that_may_fail_yet() {
    let (queue, held) = (Queue::new(), held());
    let mut first = append(&queue, &held, 10, NOW);
    let mut second = append(&queue, &held, 10, SOON);
    assert!(!is_done(&mut second));
    let (mut taken, bytes) = jobs(queue.next(None));
    let mut third = append(&queue, &held, 10, SOON);
    assert!(!is_done(&mut third));
    // The transaction fails with the first two.
    for job in taken.drain(..) {
        tell(Some(job), Err(Trouble::Full));
    }
    queue.done(bytes, false);
    assert!(is_done(&mut first) && is_done(&mut second));
    // The third would leave a gap, the fourth was called by one who knows.
    let mut fourth = append(&queue, &held, 10, NOW);
    let (taken, _) = jobs(queue.next(None));
    let none = std::collections::HashMap::new();
    let overtaken: Vec<bool> = taken
        .iter()
        .map(|job| matches!(job, Job::Append(append) if append.overtaken(&none).is_some()))
        .collect();
    assert_eq!(overtaken, [true, false]);
    assert!(!is_done(&mut third) && !is_done(&mut fourth));
}

#[test]
fn what_waits_for_room_when_the_queue_is_closed_is_written_at_the_end() {
    let (queue, held) = (Queue::new(), held());
    drop(append(&queue, &held, 300_000, SOON));
    let mut outside = append(&queue, &held, 10, SOON);
    queue.close();
    let Next::End(taken) = queue.next(None) else {
        panic!("the queue is closed");
    };
    assert_eq!(sizes(&taken), [300_000, 10]);
    // Not before it is known how that went.
    assert!(!is_done(&mut outside));
}
