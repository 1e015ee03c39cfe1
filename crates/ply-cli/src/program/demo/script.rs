//! What happens in the tour, in order, and the words that its agent knows.

use std::time::Duration;

use ply_tui::{TourAct, TourKey, TourMoment, TourStep};

use super::place::Place;

/// The file that the agent changes, before.
pub(super) const KETTLE: &str = "\
/// Degrees at which the water is poured.
const POUR_AT: u8 = 60;

/// Water that becomes hot.
pub struct Kettle {
    degrees: u8,
}

impl Kettle {
    /// Tells whether the tea can be made.
    pub fn is_hot(&self) -> bool {
        self.degrees >= POUR_AT
    }
}
";

/// Prompts that the agent knows.
pub(super) const EDIT: &str = "the tea is too cold: pour at 95 degrees";
pub(super) const TEST: &str = "now run the tests";
pub(super) const COUNT: &str = "count to a million";
pub(super) const TIDY: &str = "remove notes.tmp";

fn hold(seconds: u64) -> TourAct {
    TourAct::Hold(Duration::from_secs(seconds))
}

fn said(prompt: &str) -> [TourAct; 3] {
    [
        TourAct::Type(prompt.to_owned()),
        hold(1),
        TourAct::Press(TourKey::Enter),
    ]
}

/// Returns the steps.
pub(super) fn steps(place: &Place) -> Vec<TourStep> {
    let [type_edit, pause, send] = said(EDIT);
    let [type_test, wait, queue] = said(TEST);
    let [type_count, rest, count] = said(COUNT);
    let [type_tidy, breath, tidy] = said(TIDY);
    let press = TourAct::Press;
    let until = TourAct::WaitFor;
    vec![
        TourStep::new(
            "Welcome. The agent in this tour follows a script: no model, no API key. The client, the protocol and the files are real.",
            vec![until(TourMoment::Ready), hold(7)],
        ),
        TourStep::new(
            "You write a prompt. The agent shows its plan, searches and reads.",
            vec![type_edit, pause, send, until(TourMoment::Question)],
        ),
        TourStep::new(
            "Before it changes a file it asks, and shows the change. Numbers answer; all of a question must have been on the screen.",
            vec![hold(8)],
        ),
        TourStep::new(
            "Keep writing meanwhile: prompts queue up and are sent when the turn ends.",
            vec![type_test, wait, queue, hold(4)],
        ),
        TourStep::new(
            "1 allows the change. The turn ends, and the queued prompt is sent.",
            vec![
                until(TourMoment::Question),
                press(TourKey::Char('1')),
                until(TourMoment::NoQuestion),
                hold(2),
                until(TourMoment::Ready),
                hold(5),
            ],
        ),
        TourStep::new(
            "Esc cancels a turn, whatever the agent does.",
            vec![
                type_count,
                rest,
                count,
                hold(4),
                press(TourKey::Esc),
                until(TourMoment::Ready),
                hold(4),
            ],
        ),
        TourStep::new(
            "Alt-L shows every message between client and agent.",
            vec![press(TourKey::Alt('l')), hold(8), press(TourKey::Alt('l'))],
        ),
        TourStep::new(
            "Sessions live in the hub, so a second client can join. This question is answered from a shell: `ply permits allow`.",
            vec![
                type_tidy,
                breath,
                tidy,
                until(TourMoment::Question),
                hold(6),
                TourAct::Run(place.second_client(&["permits", "allow"])),
                until(TourMoment::NoQuestion),
                until(TourMoment::Ready),
                hold(5),
            ],
        ),
        TourStep::new(
            "That was the tour. `ply` chats with a real agent, `ply run` sends one prompt, `ply attach` is for your editor.",
            vec![hold(8)],
        ),
    ]
}
