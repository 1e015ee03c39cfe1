use ply_wire::{
    lift::Lifter,
    project::{Down, Projector, Shows},
    transcript::{Transcript, what_v1_can_carry},
    v1, v2,
};

/// Reads each line as a v2 session update, and checks that a v1 client's view of them means the same.
///
/// Lines that are no update are skipped. The view may differ only by the losses that
/// [`what_v1_can_carry`] names; nothing on the way may panic, also for a client that shows little.
///
/// # Panics
///
/// When the view means something else.
pub fn translate(data: &[u8]) {
    let events: Vec<v2::SessionUpdate> = data
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let session = Transcript::fold(&events);

    let (mut view, mut downs) = (Vec::new(), Vec::new());
    let mut projector = Projector::new(Shows::ALL, "v/");
    for event in &events {
        projector.apply(event, &mut downs);
        view.extend(downs.drain(..).filter_map(|down| read(down, event)));
    }
    projector.flush(&mut downs);
    view.extend(downs.into_iter().filter_map(sent));
    let seen = lift(view);
    assert_eq!(
        what_v1_can_carry(&session),
        what_v1_can_carry(&seen),
        "a v1 client saw another session"
    );

    let mut replayed = Vec::new();
    let _projector = Projector::load(Shows::LEAST, "v/", &session, &(), &mut replayed);
    let _seen = lift(replayed.into_iter().filter_map(sent));
}

/// Returns what a v1 client reads, which is the JSON of the v2 update where that is sent.
fn read(down: Down, event: &v2::SessionUpdate) -> Option<v1::SessionUpdate> {
    match down {
        Down::Same => serde_json::from_value(serde_json::to_value(event).ok()?).ok(),
        other => sent(other),
    }
}

fn sent(down: Down) -> Option<v1::SessionUpdate> {
    match down {
        Down::Update(update) => Some(update),
        _ => None,
    }
}

fn lift(view: impl IntoIterator<Item = v1::SessionUpdate>) -> Transcript {
    let mut lifter = Lifter::new("lifted/", "");
    let mut updates = Vec::new();
    for update in view {
        lifter.update(update, &mut updates);
    }
    Transcript::fold(&updates)
}
