//! Prompts: taken in order, inserted once, each with one answer.
use crate::support::{Session, accepted, refused, settled, started, states, updates};
use ply_session::engine::{Action, Engine, Input, Prompt};
use ply_session::{PROMPTS_QUEUED_MAX, PromptId, Refusal, Settings, ViewId};
use ply_wire::v2;

// Also: V2-PROMPT-06, V2-STATE-01.
#[test]
fn v2_prompt_05_a_prompt_is_accepted_as_soon_as_it_is_inserted() {
    let mut session = Session::attached();
    let out = session.prompt(1, "hi");
    let names: Vec<&str> = out
        .iter()
        .map(|action| match action {
            Action::Append(event) => match event.update() {
                Some(v2::SessionUpdate::UserMessage(_)) => "message",
                _ => "running",
            },
            Action::Accept { .. } => "accept",
            Action::StartTurn(_) => "start",
            _ => "other",
        })
        .collect();
    assert_eq!(names, ["message", "accept", "running", "start"]);
    assert_eq!(states(&out), ["running"]);
}

// Also: V2-PROMPT-09, V2-PROMPT-11, V2-PROMPT-20.
#[test]
fn v2_prompt_07_the_answer_names_the_message_that_everybody_is_shown_once() {
    let mut session = Session::attached();
    session.attach(2);
    let out = session.prompt(1, "hi");
    let (_, id) = accepted(&out).unwrap();
    let shown: Vec<_> = updates(&out)
        .into_iter()
        .filter_map(|update| match update {
            v2::SessionUpdate::UserMessage(message) => Some(message.message_id),
            _ => None,
        })
        .collect();
    assert_eq!(shown, [id]);
    assert_eq!(session.prompts(), ["hi"]);
}

// Also: V1-PROMPT-13, D11.
#[test]
fn v2_prompt_14_prompts_during_a_turn_are_held_and_inserted_in_order() {
    let (mut session, mut turn) = Session::running();
    for id in 2..=4 {
        assert_eq!(session.prompt(id, &format!("prompt {id}")), []);
    }
    assert_eq!(session.engine.queued(), 3);
    assert_eq!(session.prompts(), ["one"]);
    for id in 2..=4 {
        let out = session.end(turn);
        assert_eq!(settled(&out), [(id - 1, v2::StopReason::EndTurn)]);
        assert_eq!(accepted(&out).unwrap().0, id);
        turn = started(&out).unwrap();
    }
    session.end(turn);
    assert_eq!(
        session.prompts(),
        ["one", "prompt 2", "prompt 3", "prompt 4"]
    );
    session.assert_at_rest();
}

#[test]
fn d11_the_first_turn_stays_intact_and_cancellable_while_others_wait() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "two");
    session.say(Some(turn), "still here");
    assert_eq!(session.engine.running(), Some(turn));
    let out = session.cancel();
    assert_eq!(refused(&out), [(2, Refusal::Cancelled)]);
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::Cancelled)]);
}

#[test]
fn v2_prompt_12_a_refused_prompt_leaves_no_message() {
    #[track_caller]
    fn check(content: Vec<v2::ContentBlock>, expected: Refusal) {
        let mut session = Session::attached();
        let prompt = Prompt {
            id: PromptId(1),
            view: ViewId(1),
            content,
            operation: None,
        };
        let out = session.step(Input::Prompt(prompt));
        assert_eq!(refused(&out), [(1, expected)]);
        assert_eq!(out.len(), 1, "nothing else comes of it");
        assert!(started(&session.prompt(2, "next")).is_some());
    }
    check(Vec::new(), Refusal::Empty);
    let image = v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png"));
    check(vec!["a".into(), image], Refusal::Unsupported("image"));
    let audio = v2::ContentBlock::Audio(v2::AudioContent::new("aGk=", "audio/wav"));
    check(vec![audio], Refusal::Unsupported("audio"));
    let other = v2::OtherContentBlock::new("_x", Default::default());
    let other = v2::ContentBlock::Other(other);
    check(vec![other], Refusal::Unsupported("this kind of"));
}

// Also: V1-CONTENT-03.
#[test]
fn v1_content_02_every_agent_takes_text_and_links_and_what_it_advertised() {
    let mut settings = Settings::default();
    settings.accepts.image = true;
    let mut engine = Engine::new(settings, 1);
    let content = vec![
        "text".into(),
        v2::ContentBlock::ResourceLink(v2::ResourceLink::new("n", "file:///x")),
        v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png")),
    ];
    let mut out = Vec::new();
    engine.step(
        Input::Prompt(Prompt {
            id: PromptId(1),
            view: ViewId(1),
            content,
            operation: None,
        }),
        &mut out,
    );
    assert!(started(&out).is_some());
}

#[test]
fn v2_prompt_13_a_prompt_that_was_inserted_is_never_refused() {
    let (mut session, turn) = Session::running();
    for out in [session.withdraw(1), session.detach(1), session.cancel()] {
        assert_eq!(refused(&out), []);
    }
    let out = session.end_with(turn, crate::support::error());
    assert_eq!(refused(&out), []);
    assert_eq!(settled(&out).len(), 1);
}

#[test]
fn v2_prompt_16_a_held_prompt_can_be_withdrawn_and_a_running_one_goes_on() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "two");
    session.prompt(3, "three");
    assert_eq!(refused(&session.withdraw(2)), [(2, Refusal::Cancelled)]);
    assert_eq!(session.withdraw(2), [], "twice does nothing");
    assert_eq!(session.withdraw(1), [], "it was inserted");
    assert_eq!(session.withdraw(99), [], "nobody knows it");
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::EndTurn)]);
    assert_eq!(accepted(&out).unwrap().0, 3);
}

#[test]
fn a_client_that_leaves_takes_its_held_prompts_with_it_and_no_others() {
    let (mut session, turn) = Session::running();
    session.attach(2);
    session.prompt_of(1, 2, "mine");
    session.prompt_of(2, 3, "theirs");
    session.begin(4);
    assert_eq!(refused(&session.detach(1)), [(2, Refusal::Cancelled)]);
    let out = session.end(turn);
    assert_eq!(accepted(&out).unwrap().0, 3);
    let turn = started(&out).unwrap();
    assert!(started(&session.end(turn)).is_some(), "the agent's own");
}

#[test]
fn invariant_8_held_prompts_are_bounded_and_the_rest_is_refused() {
    let (mut session, turn) = Session::running();
    for id in 0..PROMPTS_QUEUED_MAX as u64 {
        assert_eq!(session.prompt(id + 2, "more"), []);
    }
    let out = session.prompt(1000, "one too many");
    assert_eq!(refused(&out), [(1000, Refusal::QueueFull)]);
    session.end(turn);
    assert_eq!(session.prompt(1001, "there is room again"), []);
}

#[test]
fn v2_prompt_19_the_agent_may_begin_a_turn_without_a_prompt() {
    let mut session = Session::attached();
    let out = session.begin(1);
    assert_eq!(states(&out), ["running"]);
    let turn = started(&out).unwrap();
    session.say(Some(turn), "by myself");
    assert_eq!(
        session.begin(2),
        [],
        "a second one waits like a prompt does"
    );
    let out = session.end(turn);
    assert_eq!(settled(&out), [(1, v2::StopReason::EndTurn)]);
    assert_eq!(states(&out), ["idle", "running"]);
    assert_eq!(session.prompts(), Vec::<String>::new());
}

#[test]
fn v1_prompt_07_every_prompt_gets_one_answer_also_around_a_cancel() {
    let (mut session, turn) = Session::running();
    session.prompt(2, "two");
    let mut answers: Vec<u64> = Vec::new();
    let mut note = |out: Vec<Action>| {
        answers.extend(settled(&out).iter().map(|(id, _)| *id));
        answers.extend(refused(&out).iter().map(|(id, _)| *id));
    };
    note(session.cancel());
    note(session.prompt(3, "three"));
    let out = session.end(turn);
    let next = started(&out).unwrap();
    note(out);
    note(session.end(turn));
    note(session.end(next));
    note(session.end(next));
    answers.sort_unstable();
    assert_eq!(answers, [1, 2, 3]);
}
