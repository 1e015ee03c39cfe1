//! One hub at a time, and no agent is one.

use ply_hub::hold::Error;

use super::*;

#[tokio::test]
async fn a_later_hub_cuts_off_the_one_before_and_an_earlier_one_is_refused() {
    let place = Place::start(shell("exec cat")).await;
    let mut first = place.connect(2).await;
    let error = hold::connect(&place.holders, HELD, 1).await.unwrap_err();
    assert!(matches!(error, Error::Fenced { epoch: 2 }), "{error}");
    first.give(1, "one").await;
    assert_eq!(first.line().await.1, "one");
    let mut second = place.connect(3).await;
    first.lost().await;
    // What the hub that was cut off says is not heard.
    drop(first.0.pipe.to.send(ToAgent::Stop).await);
    let line = Bytes::from_static(b"from the dead");
    drop(
        first
            .0
            .pipe
            .to
            .send(ToAgent::Line { number: 2, line })
            .await,
    );
    assert_eq!(second.line().await, (1, "one".to_owned()));
    second.give(2, "two").await;
    assert_eq!(second.line().await, (2, "two".to_owned()));
    // It comes again, as itself.
    let mut again = place.connect(3).await;
    second.lost().await;
    assert_eq!(again.line().await, (1, "one".to_owned()));
    let error = hold::connect(&place.holders, HELD, 2).await.unwrap_err();
    assert!(matches!(error, Error::Fenced { epoch: 3 }), "{error}");
    again.bury(&place).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_hubs_that_come_at_once_the_latest_stays() {
    const HUBS: u64 = 24;
    let place = Place::start(shell("exec cat")).await;
    let holders = place.holders.clone();
    let race = (1..=HUBS).map(|epoch| {
        let holders = holders.clone();
        tokio::spawn(async move {
            let connected = hold::connect(&holders, HELD, epoch).await;
            let mut hub = match connected {
                Ok(connection) => Hub(connection),
                Err(Error::Fenced { epoch: later }) => {
                    assert!(later > epoch);
                    return None;
                }
                // It was cut off between its word and the answer.
                Err(Error::Lost(_)) => {
                    assert!(epoch < HUBS);
                    return None;
                }
                Err(error) => panic!("{error}"),
            };
            let line = Bytes::from(format!("from {epoch}"));
            drop(
                hub.0
                    .pipe
                    .to
                    .send(ToAgent::Line {
                        number: epoch,
                        line,
                    })
                    .await,
            );
            if epoch == HUBS {
                return Some(hub);
            }
            hub.lost().await;
            None
        })
    });
    let mut last = None;
    for hub in race.collect::<Vec<_>>() {
        last = within(SECONDS, hub).await.unwrap().or(last);
    }
    let mut last = last.unwrap();
    // Whatever got through is there once and in order.
    let mut before = 0;
    loop {
        let (number, line) = last.line().await;
        let epoch: u64 = line.strip_prefix("from ").unwrap().parse().unwrap();
        assert!(epoch > before);
        before = epoch;
        last.acknowledge(number).await;
        if epoch == HUBS {
            break;
        }
    }
    last.bury(&place).await;
}

#[tokio::test]
async fn an_agent_cannot_be_its_own_hub() {
    let place = Place::new();
    let order =
        Order::new(HELD, FIXTURE, "/").args(["intrude".as_ref(), place.holders.as_os_str()]);
    place.hold(order).await;
    let mut hub = place.connect(1).await;
    let (_, said) = hub.line().await;
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(hold::is_held(&place.holders, hub.0.agent));
    assert!(!hold::is_held(&place.holders, std::process::id()));
    hub.bury(&place).await;
}

#[tokio::test]
async fn an_agent_cannot_be_the_hub_of_another_one() {
    let place = Place::start(shell("exec cat")).await;
    let script = format!("exec {FIXTURE} intrude {}", place.holders.display());
    let other = Order::new("other", "/bin/sh", "/").args(["-c", &script]);
    place.hold(other).await;
    let connected = hold::connect(&place.holders, "other", 1).await;
    let mut other = Hub(connected.unwrap());
    let (_, said) = other.line().await;
    assert!(said.contains("cannot be reached"), "{said}");
    other.0.control.bury().await;
    other.lost().await;
    let hub = place.connect(1).await;
    hub.bury(&place).await;
}
