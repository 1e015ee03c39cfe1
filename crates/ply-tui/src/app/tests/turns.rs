use super::*;
use crate::app::tab::{Phase, Trouble};

fn phase(app: &App) -> &Phase {
    &app.tab().unwrap().phase
}

fn queue(app: &App) -> Vec<&str> {
    app.tab()
        .unwrap()
        .queue
        .iter()
        .map(Composer::text)
        .collect()
}

#[test]
fn what_is_written_while_the_agent_works_is_queued_and_sent_in_order() {
    let mut app = ready();
    press(&mut app, "one<enter>");
    assert!(matches!(phase(&app), Phase::Working(_)));
    press(&mut app, "two");
    assert!(hint(&app).contains("Enter queues · Esc"));
    assert_eq!(prompts(&press(&mut app, "<enter>three<enter>")), [""; 0]);
    assert_eq!(queue(&app), ["two", "three"]);
    assert_eq!(prompts(&app.update(done(v2::StopReason::EndTurn))), ["two"]);
    assert_eq!(
        prompts(&app.update(done(v2::StopReason::EndTurn))),
        ["three"]
    );
    assert_eq!(prompts(&app.update(done(v2::StopReason::EndTurn))), [""; 0]);
    assert_eq!(*phase(&app), Phase::Ready);
}

#[test]
fn what_is_written_before_the_agent_is_ready_is_sent_when_it_is() {
    let mut app = starting();
    press(&mut app, "early<enter>");
    assert_eq!(queue(&app), ["early"]);
    assert_eq!(prompts(&open(&mut app, 1)), ["early"]);
}

#[test]
fn a_first_prompt_is_sent_when_the_session_is_open() {
    let mut options = options();
    options.prompt = Some("hello".into());
    let (mut app, actions) = App::new(&options, Vec::new(), WireLog::default());
    assert_eq!(actions, [Action::Open(TabId(1), AgentId(0), Target::New)]);
    assert_eq!(prompts(&open(&mut app, 1)), ["hello"]);
}

#[test]
fn after_a_cancelled_turn_the_queue_waits_for_the_user() {
    let mut app = ready();
    press(&mut app, "one<enter>two<enter>");
    assert_eq!(press(&mut app, "<esc>"), [Action::Cancel(TabId(1))]);
    let actions = app.update(done(v2::StopReason::Cancelled));
    assert!(prompts(&actions).is_empty());
    assert!(app.tab().unwrap().is_held);
    assert!(hint(&app).contains("Enter sends the queued prompt"));
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["two"]);
}

#[test]
fn interrupting_sends_what_is_written_before_what_was_queued() {
    let mut app = ready();
    press(&mut app, "one<enter>two<enter>");
    let actions = press(&mut app, "now<a-i>");
    assert!(actions.contains(&Action::Cancel(TabId(1))));
    assert_eq!(queue(&app), ["now", "two"]);
    let actions = app.update(done(v2::StopReason::Cancelled));
    assert_eq!(prompts(&actions), ["now"]);
    assert_eq!(prompts(&app.update(done(v2::StopReason::EndTurn))), ["two"]);
}

#[test]
fn control_enter_interrupts_where_the_terminal_can_tell_it() {
    let mut app = ready();
    press(&mut app, "one<enter>now<c-enter>");
    assert!(matches!(phase(&app), Phase::Cancelling { .. }));
    assert_eq!(queue(&app), ["now"]);
}

#[test]
fn queued_prompts_can_be_edited_and_removed() {
    let mut app = ready();
    press(&mut app, "run<enter>a<enter>b<enter>c<enter><up>");
    assert_eq!(app.focus, Focus::Queue(2));
    press(&mut app, "<up><del>");
    assert_eq!(queue(&app), ["a", "c"]);
    press(&mut app, "<up><enter>");
    assert_eq!((queue(&app), written(&app)), (vec!["c"], "a"));
    press(&mut app, "!<enter>half<c-x><enter>");
    assert_eq!(
        queue(&app),
        ["a!", "c"],
        "what is half written is not queued"
    );
    assert_eq!(written(&app), "half");
    press(&mut app, "<c-c><c-x><del><del>");
    assert_eq!((queue(&app), app.focus), (vec![], Focus::Composer));
}

#[test]
fn a_queued_prompt_that_is_edited_goes_back_to_its_place() {
    let mut app = ready();
    press(&mut app, "run<enter>a<enter>b<enter>c<enter>");
    press(&mut app, "<up><up><enter>");
    assert_eq!((queue(&app), written(&app)), (vec!["a", "c"], "b"));
    assert!(hint(&app).contains("Esc puts it back into the queue"));
    // Not a cancel, as it would be otherwise.
    assert_eq!(press(&mut app, "!<esc>"), []);
    assert_eq!((queue(&app), written(&app)), (vec!["a", "b!", "c"], ""));
    // What was emptied is not lost, and what is sent meanwhile is no longer before it.
    press(&mut app, "<up><enter><c-u>");
    assert_eq!(queue(&app), ["a", "b!"]);
    tell(&mut app, done(v2::StopReason::EndTurn));
    press(&mut app, "<esc>");
    assert_eq!(queue(&app), ["b!", "c"]);
    press(&mut app, "<up><up><enter>?<enter>");
    assert_eq!(queue(&app), ["b!?", "c"]);
    assert_eq!(press(&mut app, "<esc>"), [Action::Cancel(TabId(1))]);
}

#[test]
fn a_prompt_that_is_put_back_after_the_turn_waits() {
    let mut app = ready();
    press(&mut app, "run<enter>a<enter><up><enter>");
    tell(&mut app, done(v2::StopReason::EndTurn));
    assert_eq!(prompts(&press(&mut app, "<esc>")), [""; 0]);
    assert!(app.tab().unwrap().is_held);
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["a"]);
}

#[test]
fn silence_is_counted_on() {
    let mut app = ready();
    press(&mut app, "run<enter>");
    tell(&mut app, Event::Tick(31_000));
    tell(&mut app, Event::Quiet(TabId(1), 30));
    assert_eq!(app.tab().unwrap().quiet_since, Some(1000));
    tell(&mut app, Event::Changed(TabId(1)));
    assert_eq!(app.tab().unwrap().quiet_since, None);
}

#[test]
fn the_chosen_prompt_stays_chosen_when_the_one_before_it_is_sent() {
    let mut app = ready();
    press(&mut app, "run<enter>a<enter>b<enter><up>");
    assert_eq!(app.focus, Focus::Queue(1));
    tell(&mut app, done(v2::StopReason::EndTurn));
    assert_eq!((app.focus, queue(&app)), (Focus::Queue(0), vec!["b"]));
    tell(&mut app, done(v2::StopReason::EndTurn));
    assert_eq!((app.focus, queue(&app)), (Focus::Composer, vec![]));
}

#[test]
fn a_cancel_can_be_said_again_and_is_overdue_even_if_the_agent_never_heard_of_the_turn() {
    let mut app = ready();
    press(&mut app, "one<enter>");
    let cancel = [Action::Cancel(TabId(1))];
    assert_eq!(press(&mut app, "<esc>"), cancel);
    assert!(hint(&app).contains("Esc cancels again"), "{}", hint(&app));
    assert_eq!(press(&mut app, "<esc>"), cancel);
    assert!(!hint(&app).contains("Alt-K"));
    tell(&mut app, Event::Tick(CANCEL_MS));
    assert!(hint(&app).contains("Alt-K kills the agent"));
}

#[test]
fn a_prompt_that_is_cancelled_before_it_is_sent_goes_back_to_the_composer() {
    let mut app = ready();
    press(&mut app, "one<enter>two<enter><esc>");
    tell(&mut app, Event::TurnEnded(TabId(1), Ended::Unsent));
    assert_eq!((written(&app), phase(&app)), ("one", &Phase::Ready));
    assert!(app.tab().unwrap().is_held);
    // With a prompt that is to go instead, that one goes.
    let mut app = ready();
    press(&mut app, "one<enter>now<a-i>");
    let actions = app.update(Event::TurnEnded(TabId(1), Ended::Unsent));
    assert_eq!(prompts(&actions), ["now"]);
    assert_eq!(written(&app), "one", "and the other is not lost");
    // What is being written stays, and the other waits behind.
    let mut app = ready();
    press(&mut app, "one<enter>two<enter><esc>half");
    let actions = app.update(Event::TurnEnded(TabId(1), Ended::Unsent));
    assert_eq!(prompts(&actions), [""; 0]);
    assert_eq!((queue(&app), written(&app)), (vec!["one", "two"], "half"));
    assert!(app.tab().unwrap().is_held);
    let mut app = ready();
    press(&mut app, "one<enter>now<a-i>half");
    let actions = app.update(Event::TurnEnded(TabId(1), Ended::Unsent));
    assert_eq!(prompts(&actions), ["now"]);
    assert_eq!((queue(&app), written(&app)), (vec!["one"], "half"));
    let actions = app.update(done(v2::StopReason::EndTurn));
    assert_eq!(prompts(&actions), [""; 0]);
}

#[test]
fn an_interrupt_of_a_prompt_that_failed_does_not_outlive_it() {
    let mut app = ready();
    press(&mut app, "one<enter>now<a-i>");
    let failure = Failure::Other("no images".into());
    tell(&mut app, Event::PromptFailed(TabId(1), failure));
    press(&mut app, "<c-c>two<enter>three<enter><esc>");
    let actions = app.update(done(v2::StopReason::Cancelled));
    assert_eq!(prompts(&actions), [""; 0]);
    assert!(app.tab().unwrap().is_held);
}

#[test]
fn a_session_that_cannot_be_opened_again_says_what_to_do() {
    let mut app = ready();
    let auth = Failure::Auth(Vec::new(), None);
    press(&mut app, "one<enter>");
    tell(&mut app, Event::PromptFailed(TabId(1), auth));
    for failure in [Failure::Other("gone".into()), Failure::Died("7".into())] {
        tell(&mut app, Event::OpenFailed(TabId(1), failure));
        assert!(matches!(phase(&app), Phase::Stuck(Trouble::Failed(_))));
        assert!(hint(&app).starts_with("Enter tries again"));
    }
}

#[test]
fn typing_in_the_queue_means_the_composer() {
    let mut app = ready();
    press(&mut app, "run<enter>a<enter><up>xyz");
    assert_eq!((app.focus, written(&app)), (Focus::Composer, "xyz"));
}

#[test]
fn the_queue_is_bounded_and_says_so() {
    let mut app = ready();
    press(&mut app, "run<enter>");
    for _ in 0..crate::app::tab::queue::QUEUE_PROMPTS_MAX + 1 {
        press(&mut app, "x<enter>");
    }
    assert_eq!(queue(&app).len(), crate::app::tab::queue::QUEUE_PROMPTS_MAX);
    assert_eq!(written(&app), "x");
}

#[test]
fn a_prompt_that_was_not_delivered_goes_back_to_the_composer() {
    let mut app = ready();
    press(&mut app, "precious<enter>");
    let failure = Failure::Other("no images".into());
    tell(&mut app, Event::PromptFailed(TabId(1), failure));
    assert_eq!((written(&app), phase(&app)), ("precious", &Phase::Ready));
    // What was begun meanwhile is not lost either.
    press(&mut app, "<enter>next");
    let failure = Failure::Other("no images".into());
    tell(&mut app, Event::PromptFailed(TabId(1), failure));
    assert_eq!((queue(&app), written(&app)), (vec!["precious"], "next"));
}

#[test]
fn a_dead_agent_is_told_and_the_next_prompt_restarts_it() {
    let mut app = ready();
    press(&mut app, "one<enter>two<enter>");
    let died = Failure::Died("exit status: 7".into());
    let actions = app.update(Event::TurnEnded(TabId(1), Ended::Failed(died)));
    assert!(prompts(&actions).is_empty(), "the queue is held");
    tell(&mut app, Event::AgentDied(AgentId(0), "it ended".into()));
    // What the turn says of it says more, whichever comes first.
    assert_eq!(app.tab().unwrap().died.as_deref(), Some("exit status: 7"));
    press(&mut app, "again");
    assert!(hint(&app).starts_with("Enter restarts the agent and sends"));
    assert_eq!(prompts(&press(&mut app, "<enter>")), ["again"]);
    assert!(app.tab().unwrap().died.is_none());
}

#[test]
fn a_login_that_is_wanted_is_done_and_the_prompt_goes_on() {
    let mut app = ready();
    press(&mut app, "one<enter>");
    let agent = v2::AuthMethodAgent::new("oauth", "Sign in");
    let methods = vec![v2::AuthMethod::Agent(agent)];
    let failure = Ended::Failed(Failure::Auth(methods, None));
    tell(&mut app, Event::TurnEnded(TabId(1), failure));
    assert!(hint(&app).starts_with("Enter logs in"), "{}", hint(&app));
    let actions = press(&mut app, "<enter>");
    assert_eq!(
        actions,
        [Action::Login(AgentId(0), "oauth".to_owned().into())]
    );
    assert_eq!(press(&mut app, "<enter>"), []);
    press(&mut app, "<esc>");
    assert!(
        hint(&app).starts_with("Enter logs in"),
        "waiting can be left"
    );
    tell(&mut app, Event::LoggedIn(AgentId(0), Err("denied".into())));
    press(&mut app, "<enter>");
    let actions = app.update(Event::LoggedIn(AgentId(0), Ok(())));
    assert_eq!(prompts(&actions), ["one"]);
}

#[test]
fn an_agent_that_is_missing_is_tried_again_with_enter() {
    let mut app = starting();
    let failure = Failure::Missing("no such file".into());
    tell(&mut app, Event::OpenFailed(TabId(1), failure));
    assert!(matches!(phase(&app), Phase::Stuck(Trouble::Missing(_))));
    press(&mut app, "later<enter>");
    assert_eq!(queue(&app), ["later"]);
    let again = Action::Open(TabId(1), AgentId(0), Target::New);
    assert_eq!(press(&mut app, "<enter>"), [again]);
}

#[test]
fn an_agent_that_ignores_a_cancel_can_be_killed() {
    let mut app = ready();
    press(&mut app, "one<enter>");
    assert_eq!(press(&mut app, "<a-k>"), [], "not before it was asked");
    press(&mut app, "<esc>");
    tell(&mut app, Event::CancelOverdue(TabId(1)));
    assert!(hint(&app).contains("Alt-K kills the agent"));
    assert_eq!(press(&mut app, "<a-k>"), [Action::Kill(AgentId(0))]);
}
