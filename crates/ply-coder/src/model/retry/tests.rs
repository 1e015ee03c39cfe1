use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn failure(class: FailureClass) -> Failure {
    Failure::new(class, "it failed")
}

#[track_caller]
fn check(class: FailureClass, history: History, received: Received, expected: Next) {
    assert_eq!(
        decide(history, &failure(class), received, 1.0),
        expected,
        "{class:?} after {history:?}, received {received:?}"
    );
}

fn retried(retries: u32) -> History {
    History {
        retries,
        ..History::default()
    }
}

#[test]
fn waits_grow_to_a_limit_and_end() {
    use FailureClass as Class;
    for class in [
        Class::Busy,
        Class::Service,
        Class::Unreachable,
        Class::Silent,
        Class::Cut,
        Class::Malformed,
    ] {
        for (retries, seconds) in [(0, 1), (1, 2), (2, 4), (3, 8), (4, 16)] {
            let after = SECOND * seconds;
            check(
                class,
                retried(retries),
                Received::Nothing,
                Next::Retry { after },
            );
        }
        check(class, retried(5), Received::Nothing, Next::GiveUp);
    }
}

#[test]
fn without_a_network_tries_go_on_for_about_an_hour() {
    let network = FailureClass::Network;
    let after = NETWORK_WAIT;
    check(
        network,
        retried(4),
        Received::Nothing,
        Next::Retry { after: SECOND * 16 },
    );
    check(
        network,
        retried(5),
        Received::Nothing,
        Next::Retry { after },
    );
    check(
        network,
        retried(59),
        Received::Nothing,
        Next::Retry { after },
    );
    check(network, retried(60), Received::Nothing, Next::GiveUp);
}

#[test]
fn the_jitter_takes_any_part_of_the_wait() {
    let busy = failure(FailureClass::Busy);
    for (jitter, millis) in [
        (0.0, 0),
        (0.25, 1_000),
        (1.0, 4_000),
        (7.0, 4_000),
        (-1.0, 0),
        (f64::NAN, 4_000),
    ] {
        let after = Duration::from_millis(millis);
        assert_eq!(
            decide(retried(2), &busy, Received::Nothing, jitter),
            Next::Retry { after }
        );
    }
}

#[test]
fn a_service_that_names_a_time_is_asked_again_then() {
    let mut busy = failure(FailureClass::Busy);
    for (seconds, expected) in [
        (
            0,
            Next::Retry {
                after: Duration::ZERO,
            },
        ),
        (60, Next::Retry { after: SECOND * 60 }),
        (61, Next::GiveUp),
        (3_600, Next::GiveUp),
    ] {
        busy.retry_after = Some(SECOND * seconds);
        let next = decide(History::default(), &busy, Received::Nothing, 0.5);
        assert_eq!(next, expected, "{seconds} s");
    }
    busy.retry_after = Some(SECOND);
    assert_eq!(
        decide(retried(5), &busy, Received::Nothing, 0.5),
        Next::GiveUp
    );
}

#[test]
fn an_answer_that_was_cut_is_continued_once() {
    use FailureClass as Class;
    for class in [
        Class::Cut,
        Class::Network,
        Class::Silent,
        Class::Service,
        Class::Malformed,
        Class::Busy,
    ] {
        let history = History::default();
        let next = Next::Continue { after: SECOND };
        check(class, history, Received::Something, next);
        check(class, history.with(next), Received::Something, Next::GiveUp);
        // The continuation that fails before it says anything is an ordinary request.
        check(
            class,
            history.with(next),
            Received::Nothing,
            Next::Retry { after: SECOND },
        );
    }
}

#[test]
fn a_conversation_is_repaired_or_shortened_once() {
    let history = History::default();
    let rejected = FailureClass::Rejected;
    check(rejected, history, Received::Nothing, Next::Repair);
    check(
        rejected,
        history.with(Next::Repair),
        Received::Nothing,
        Next::GiveUp,
    );
    let overflow = FailureClass::ContextOverflow;
    check(overflow, history, Received::Nothing, Next::Compact);
    check(
        overflow,
        history.with(Next::Compact),
        Received::Nothing,
        Next::GiveUp,
    );
    // The one does not use up the other.
    check(
        overflow,
        history.with(Next::Repair),
        Received::Nothing,
        Next::Compact,
    );
}

#[test]
fn what_time_does_not_mend_is_told_at_once() {
    use FailureClass as Class;
    for class in [
        Class::Unauthorized,
        Class::Quota,
        Class::NoSuchModel,
        Class::TooLarge,
        Class::Setup,
    ] {
        for received in [Received::Nothing, Received::Something] {
            check(class, History::default(), received, Next::GiveUp);
        }
    }
}
