use ply_wire::{
    lift::Lifter,
    project::{Down, Projector, Shows},
    transcript::{Transcript, what_v1_can_carry},
    v2,
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

    let mut view = Vec::new();
    let mut projector = Projector::new(Shows::ALL, "v/");
    events
        .iter()
        .for_each(|event| projector.apply(event, &mut view));
    projector.flush(&mut view);
    let seen = lift(&view);
    assert_eq!(
        what_v1_can_carry(&session),
        what_v1_can_carry(&seen),
        "a v1 client saw another session"
    );

    let mut replayed = Vec::new();
    let _projector = Projector::load(Shows::LEAST, "v/", &session, &(), &mut replayed);
    let _seen = lift(&replayed);
}

fn lift(view: &[Down]) -> Transcript {
    let mut lifter = Lifter::new("lifted/", "");
    let mut updates = Vec::new();
    for down in view {
        if let Down::Update(update) = down {
            lifter.update(update.clone(), &mut updates);
        }
    }
    Transcript::fold(&updates)
}
