//! The state of a link is a function of what was recorded.

use super::*;
use crate::down::link::again::{self, Again, Resumed, Torn};

/// Something that happens, right or wrong, at any time.
#[derive(Debug, Clone)]
enum Happening {
    Prompt,
    Cancel,
    Chunk(bool),
    Call(u8, u8),
    State(u8),
    UserMessage,
    Permission(u8),
    File(u8),
    Take(u8),
    AnswerCall(u8, bool),
    Answer(u8, bool),
    Serve(u8),
    SetOption,
    Open(bool),
    Garbage(String),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        3 => Just(Happening::Prompt),
        1 => Just(Happening::Cancel),
        4 => any::<bool>().prop_map(Happening::Chunk),
        3 => (0..3_u8, 0..4_u8).prop_map(|(id, status)| Happening::Call(id, status)),
        3 => (0..3_u8).prop_map(Happening::State),
        1 => Just(Happening::UserMessage),
        2 => (0..4_u8).prop_map(Happening::Permission),
        1 => (0..4_u8).prop_map(Happening::File),
        1 => (0..4_u8).prop_map(Happening::Take),
        4 => (0..4_u8, any::<bool>()).prop_map(|(call, ok)| Happening::AnswerCall(call, ok)),
        2 => (0..4_u8, any::<bool>()).prop_map(|(ask, yes)| Happening::Answer(ask, yes)),
        1 => (0..4_u8).prop_map(Happening::Serve),
        1 => Just(Happening::SetOption),
        1 => any::<bool>().prop_map(Happening::Open),
        1 => "[ -~]{0,40}".prop_map(Happening::Garbage),
    ]
}

fn happen(scene: &mut Scene, version: u16, happening: &Happening) {
    let last_call = scene.link.last_call;
    let last_request = scene.link.last_request;
    match happening {
        Happening::Prompt => {
            let content = vec![v2::ContentBlock::from("hi")];
            let message = v2::MessageId::new("m");
            scene.wish(Wish::Prompt { message, content });
        }
        Happening::Cancel => drop(scene.wish(Wish::Cancel)),
        Happening::Chunk(has_id) => {
            let mut update = chunk("x");
            if !has_id {
                update["messageId"] = Value::Null;
            }
            scene.update(update);
        }
        Happening::Call(id, status) => {
            let status = ["pending", "in_progress", "completed", "failed"][usize::from(*status)];
            let kind = if version == 1 {
                "tool_call"
            } else {
                "tool_call_update"
            };
            scene.update(json!({"sessionUpdate": kind, "toolCallId": format!("c{id}"), "title": "T", "status": status}));
        }
        Happening::State(which) => {
            scene.update(state(
                ["running", "idle", "requires_action"][usize::from(*which)],
            ));
        }
        Happening::UserMessage => {
            scene.update(json!({"sessionUpdate": "user_message", "messageId": "u"}));
        }
        Happening::Permission(id) => scene.json(permission(&format!("q{id}"))),
        Happening::File(id) => {
            let params = json!({"sessionId": "s", "path": "/w/a"});
            scene.json(json!({"id": id, "method": "fs/read_text_file", "params": params}));
        }
        Happening::Take(id) => {
            let params = json!({"requestId": format!("q{id}")});
            scene.json(json!({"method": "$/cancel_request", "params": params}));
        }
        Happening::AnswerCall(back, ok) => {
            let call = last_call - i64::from(*back);
            if *ok {
                let answer = json!({"stopReason": "end_turn", "messageId": "u", "sessionId": "s", "configOptions": []});
                scene.result(call, &answer);
            } else {
                scene.error(call, -32000);
            }
        }
        Happening::Answer(back, yes) => {
            let request = last_request.saturating_sub(u64::from(*back));
            let answer = if *yes {
                Answer::Selected(v2::PermissionOptionId::new("y"))
            } else {
                Answer::Cancelled
            };
            scene.wish(Wish::Answer { request, answer });
        }
        Happening::Serve(back) => {
            let request = last_request.saturating_sub(u64::from(*back));
            let terminal = Some(v1::TerminalId::new("t"));
            let result = Some(Ok(json!({"content": "a file that is not recorded"})));
            scene.wish(Wish::Serve {
                request,
                terminal,
                result,
            });
        }
        Happening::SetOption => {
            let option = v2::SessionConfigId::new("mode");
            let value = v2::SessionConfigOptionValue::id("code");
            scene.wish(Wish::SetOption { option, value });
        }
        Happening::Open(loads) => {
            let how = if *loads { How::Load } else { How::Resume };
            scene.wish(open(how));
        }
        Happening::Garbage(line) => scene.line(line),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_link_folded_from_its_record_is_the_live_one_after_every_line(
        version in 1..=2_u16,
        happenings in proptest::collection::vec(happening(), 1..40),
        cut in 0..40_usize,
    ) {
        let mut scene = Scene::open(version);
        let mut folded = Link::new();
        for recorded in &scene.record {
            recorded.apply(&mut folded);
        }
        prop_assert_eq!(&folded, &scene.link);
        let mut written = None;
        for (number, happening) in happenings.iter().enumerate() {
            let before = scene.record.len();
            happen(&mut scene, version, happening);
            for recorded in &scene.record[before..] {
                recorded.apply(&mut folded);
            }
            prop_assert_eq!(&folded, &scene.link, "after {:?}", happening);
            if number == cut {
                written = Some((serde_json::to_string(&scene.link).unwrap(), scene.record.len()));
            }
        }
        // From what was written down, and the lines after that.
        if let Some((text, from)) = written {
            let mut read: Link = serde_json::from_str(&text).unwrap();
            for recorded in &scene.record[from..] {
                recorded.apply(&mut read);
            }
            prop_assert_eq!(&read, &scene.link);
        }
    }

    #[test]
    fn every_line_and_every_request_is_numbered_once(
        version in 1..=2_u16,
        happenings in proptest::collection::vec(happening(), 1..60),
    ) {
        let mut scene = Scene::open(version);
        let mut last = scene.link.last_out();
        let mut answered = std::collections::HashSet::new();
        for happening in &happenings {
            happen(&mut scene, version, happening);
            for output in scene.out.drain(..) {
                match output {
                    Output::Send { number, .. } => {
                        prop_assert_eq!(number, last + 1);
                        last = number;
                    }
                    Output::Answered { call, .. } => prop_assert!(answered.insert(call)),
                    _ => {}
                }
            }
            prop_assert!(scene.link.open_requests() <= REQUESTS_OPEN_MAX);
        }
    }
}

/// What another process finds: a state, and what was written down after it.
struct Found {
    state: String,
    last_in: u64,
    records: usize,
}

impl Found {
    fn in_scene(scene: &Scene) -> Option<Self> {
        (scene.link.open_requests() == 0).then(|| Self {
            state: serde_json::to_string(&scene.link).unwrap(),
            last_in: scene.link.last_in(),
            records: scene.record.len(),
        })
    }

    /// Returns the link that goes on from here.
    fn go_on(&self, scene: &Scene, upto: u64, written: u64) -> Result<Resumed, Torn> {
        let link = serde_json::from_str(&self.state).unwrap();
        let (mut told, mut after) = (Vec::new(), self.last_in);
        for recorded in &scene.record[self.records..] {
            match recorded {
                Recorded::Line(number, _) => after = *number,
                Recorded::Wish(wish) => {
                    let wish = serde_json::from_str(wish).unwrap();
                    told.push(again::Told { after, wish });
                }
            }
        }
        let mut again = Again::new(link, told, upto, written);
        for recorded in &scene.record {
            if let Recorded::Line(number, line) = recorded {
                again.line(*number, line.as_bytes())?;
            }
        }
        again.finish()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_link_that_another_process_goes_on_with_is_the_live_one(
        version in 1..=2_u16,
        happenings in proptest::collection::vec(happening(), 1..40),
        cut in 0..40_usize,
        reported in 0..=100_u64,
    ) {
        let mut scene = Scene::open(version);
        let mut found = Found::in_scene(&scene).unwrap();
        let mut updates = Vec::new();
        for (number, happening) in happenings.iter().enumerate() {
            scene.out.clear();
            happen(&mut scene, version, happening);
            let line = scene.link.last_in();
            let told = scene.out.drain(..).filter(|output| matches!(output, Output::Update(_)));
            updates.extend(told.map(|update| (line, format!("{update:?}"))));
            if number <= cut {
                found = Found::in_scene(&scene).unwrap_or(found);
            }
        }
        let unreported = scene.link.last_in() - found.last_in;
        let upto = found.last_in + unreported * reported / 100;
        let resumed = found.go_on(&scene, upto, scene.link.last_out()).unwrap();
        prop_assert_eq!(&resumed.link, &scene.link);
        // What the journal does not have is told again, and nothing else.
        updates.retain(|(line, _)| *line > upto);
        let told = resumed.outputs.iter().filter(|(_, output)| matches!(output, Output::Update(_)));
        let told: Vec<_> = told.map(|(line, update)| (*line, format!("{update:?}"))).collect();
        prop_assert_eq!(told, updates);
        let asks = |output: &Output| matches!(output, Output::Ask { .. } | Output::Service { .. });
        let later = resumed.outputs.iter().map(|(_, output)| output);
        let asked = resumed.asked.iter().chain(later).filter(|output| asks(output));
        prop_assert_eq!(asked.count(), scene.link.open_requests());
        // Everything was sent.
        let sent = resumed.outputs.iter().any(|(_, output)| matches!(output, Output::Send { .. }));
        prop_assert!(!sent);
    }

    #[test]
    fn what_was_recorded_and_not_sent_is_sent(
        version in 1..=2_u16,
        happenings in proptest::collection::vec(happening(), 1..20),
        lost in 0..5_u64,
    ) {
        let mut scene = Scene::open(version);
        let found = Found::in_scene(&scene).unwrap();
        let first = scene.link.last_out();
        let is_served = |happening: &Happening| matches!(happening, Happening::Serve(_));
        for happening in happenings.iter().filter(|happening| !is_served(happening)) {
            happen(&mut scene, version, happening);
        }
        let last = scene.link.last_out();
        let written = last.saturating_sub(lost).max(first);
        let resumed = found.go_on(&scene, scene.link.last_in(), written).unwrap();
        let lines = |outputs: &mut dyn Iterator<Item = &Output>| -> Vec<(u64, Bytes)> {
            let sent = outputs.filter_map(|output| match output {
                Output::Send { number, line } => Some((*number, line.clone())),
                _ => None,
            });
            sent.filter(|(number, _)| *number > written).collect()
        };
        let sent = lines(&mut resumed.outputs.iter().map(|(_, output)| output));
        prop_assert_eq!(sent, lines(&mut scene.out.iter()));
    }
}

#[test]
fn a_file_whose_content_was_not_sent_is_read_again() {
    let mut scene = Scene::open(1);
    let found = Found::in_scene(&scene).unwrap();
    let params = json!({"sessionId": "s", "path": "/w/a"});
    scene.json(json!({"id": 1, "method": "fs/read_text_file", "params": params}));
    let result = Some(Ok(json!({"content": "secret"})));
    scene.wish(Wish::Serve {
        request: scene.link.last_request(),
        terminal: None,
        result,
    });
    let (last_in, last_out) = (scene.link.last_in(), scene.link.last_out());
    let resumed = found.go_on(&scene, last_in, last_out - 1).unwrap();
    assert!(matches!(resumed.asked[..], [Output::Service { .. }]));
    assert!(resumed.outputs.is_empty(), "nobody knows what it held");
    let resumed = found.go_on(&scene, last_in, last_out).unwrap();
    assert!(resumed.asked.is_empty());
}

#[test]
fn nobody_goes_on_with_what_is_not_recorded() {
    let mut scene = Scene::open(2);
    let found = Found::in_scene(&scene).unwrap();
    let last_out = scene.link.last_out();
    let sent = found.go_on(&scene, found.last_in, last_out + 1);
    assert_eq!(sent.unwrap_err(), Torn::Sent);
    let unsent = found.go_on(&scene, found.last_in, last_out - 1);
    assert_eq!(unsent.unwrap_err(), Torn::Unsent);
    let lines = found.go_on(&scene, found.last_in + 1, last_out);
    assert_eq!(lines.unwrap_err(), Torn::Lines);
    scene.line("{}");
    scene.record.pop();
    scene.line("{}");
    let gap = found.go_on(&scene, found.last_in, last_out);
    assert_eq!(gap.unwrap_err(), Torn::Lines);
}
