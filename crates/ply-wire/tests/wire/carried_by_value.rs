//! What arrives on the other side, compared by value.
//!
//! The properties in `translation_properties.rs` compare a session with its v1 view after both went
//! through the same function, which uses some of the conversions under test. Here nothing stands
//! between what went in and what must come out.
use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ply_wire::{
    convert::{commands, config, content, diff, plan},
    lift::Lifter,
    project::{Down, EditText, EditTexts, Projector, Shows},
    transcript::{MessageKind, Transcript},
    v1, v2,
};
use proptest::{collection::vec, option, prelude::*};
use serde_json::json;

/// Returns the updates a v1 client is sent.
fn project(events: &[v2::SessionUpdate], edits: &dyn EditTexts) -> Vec<v1::SessionUpdate> {
    let mut projector = Projector::new(Shows::ALL, "v/");
    let (mut out, mut downs) = (Vec::new(), Vec::new());
    for event in events {
        projector.apply_with(event, edits, &mut downs);
        out.extend(downs.drain(..).filter_map(|down| down.into_update(event)));
    }
    projector.flush(&mut downs);
    out.extend(downs.into_iter().map(|down| match down {
        Down::Update(update) => update,
        other => panic!("{other:?}"),
    }));
    out
}

/// Returns what the session looks like behind a v1 view of it.
fn through_v1(events: &[v2::SessionUpdate], edits: &dyn EditTexts) -> Transcript {
    let mut lifter = Lifter::new("made-", "");
    let mut out = Vec::new();
    for update in project(events, edits) {
        lifter.update(update, &mut out);
    }
    Transcript::fold(&out)
}

fn words() -> impl Strategy<Value = String> {
    "[a-zé \\n]{1,8}"
}

fn meta() -> BoxedStrategy<Option<v2::Meta>> {
    let meta =
        ("[a-c]", words()).prop_map(|(key, value)| v2::Meta::from_iter([(key, json!(value))]));
    option::of(meta).boxed()
}

/// Annotations that v1 has words for.
fn annotations() -> BoxedStrategy<Option<v2::Annotations>> {
    let role = prop_oneof![Just(v2::Role::User), Just(v2::Role::Assistant)];
    let annotations = (
        option::of(vec(role, 0..3)),
        option::of(0.0..1.0f64),
        option::of(words()),
        meta(),
    );
    option::of(
        annotations.prop_map(|(audience, priority, modified, meta)| {
            v2::Annotations::new()
                .audience(audience)
                .priority(priority)
                .last_modified(modified)
                .meta(meta)
        }),
    )
    .boxed()
}

/// Blocks of all types that v1 has, with all fields that v1 has.
fn block() -> BoxedStrategy<v2::ContentBlock> {
    let extra = || (annotations(), meta());
    prop_oneof![
        (words(), extra()).prop_map(|(text, (annotations, meta))| {
            let text = v2::TextContent::new(text)
                .annotations(annotations)
                .meta(meta);
            v2::ContentBlock::Text(text)
        }),
        (words(), option::of(words()), extra()).prop_map(|(data, uri, (annotations, meta))| {
            let image = v2::ImageContent::new(data, "image/png").uri(uri);
            v2::ContentBlock::Image(image.annotations(annotations).meta(meta))
        }),
        (words(), extra()).prop_map(|(data, (annotations, meta))| {
            let audio = v2::AudioContent::new(data, "audio/wav");
            v2::ContentBlock::Audio(audio.annotations(annotations).meta(meta))
        }),
        (
            words(),
            option::of(words()),
            option::of(0..=i64::MAX as u64),
            extra()
        )
            .prop_map(|(name, words, size, (annotations, meta))| {
                let link = v2::ResourceLink::new(name, "file:///x")
                    .title(words.clone())
                    .description(words.clone())
                    .mime_type(words.as_deref().map(v2::MediaType::new))
                    .size(size)
                    .annotations(annotations)
                    .meta(meta);
                v2::ContentBlock::ResourceLink(link)
            }),
        (words(), any::<bool>(), meta(), extra()).prop_map(
            |(words, is_text, inner, (annotations, meta))| {
                let mime = Some(v2::MediaType::new("text/plain"));
                let contents = if is_text {
                    let contents = v2::TextResourceContents::new(words, "file:///x");
                    v2::EmbeddedResourceResource::TextResourceContents(
                        contents.mime_type(mime).meta(inner),
                    )
                } else {
                    let contents = v2::BlobResourceContents::new(words, "file:///x");
                    v2::EmbeddedResourceResource::BlobResourceContents(
                        contents.mime_type(mime).meta(inner),
                    )
                };
                let resource = v2::EmbeddedResource::new(contents);
                v2::ContentBlock::Resource(resource.annotations(annotations).meta(meta))
            }
        ),
    ]
    .boxed()
}

fn entry() -> impl Strategy<Value = v2::PlanEntry> {
    let priority = prop_oneof![
        Just(v2::PlanEntryPriority::High),
        Just(v2::PlanEntryPriority::Medium),
        Just(v2::PlanEntryPriority::Low),
    ];
    let status = prop_oneof![
        Just(v2::PlanEntryStatus::Pending),
        Just(v2::PlanEntryStatus::InProgress),
        Just(v2::PlanEntryStatus::Completed),
    ];
    (words(), priority, status, meta()).prop_map(|(text, priority, status, meta)| {
        v2::PlanEntry::new(text, priority, status).meta(meta)
    })
}

fn choice(value: &'static str) -> impl Strategy<Value = v2::SessionConfigSelectOption> {
    (words(), option::of(words()), meta()).prop_map(move |(name, description, meta)| {
        v2::SessionConfigSelectOption::new(value, name)
            .description(description)
            .meta(meta)
    })
}

fn option_() -> BoxedStrategy<v2::SessionConfigOption> {
    use v2::SessionConfigOptionCategory as Category;
    let choices = prop_oneof![
        (choice("a"), choice("b"))
            .prop_map(|(a, b)| v2::SessionConfigSelectOptions::Ungrouped(vec![a, b])),
        (choice("a"), choice("b"), meta()).prop_map(|(a, b, meta)| {
            let first = v2::SessionConfigSelectGroup::new("g", "G", vec![a]).meta(meta);
            let second = v2::SessionConfigSelectGroup::new("h", "H", vec![b]);
            v2::SessionConfigSelectOptions::Grouped(vec![first, second])
        }),
    ];
    let kind = prop_oneof![
        choices.prop_map(|choices| {
            v2::SessionConfigKind::Select(v2::SessionConfigSelect::new("b", choices))
        }),
        any::<bool>()
            .prop_map(|on| v2::SessionConfigKind::Boolean(v2::SessionConfigBoolean::new(on))),
    ];
    let category = prop_oneof![
        Just(Category::Mode),
        Just(Category::Model),
        Just(Category::ModelConfig),
        Just(Category::ThoughtLevel),
        Just(Category::Other("_c".into())),
    ];
    (
        words(),
        kind,
        option::of(category),
        option::of(words()),
        meta(),
    )
        .prop_map(|(name, kind, category, description, meta)| {
            v2::SessionConfigOption::new("o", name, kind)
                .category(category)
                .description(description)
                .meta(meta)
        })
        .boxed()
}

fn command() -> impl Strategy<Value = v2::AvailableCommand> {
    let input = (words(), meta()).prop_map(|(hint, meta)| {
        v2::AvailableCommandInput::Text(v2::TextCommandInput::new(hint).meta(meta))
    });
    (words(), words(), option::of(input), meta()).prop_map(|(name, description, input, meta)| {
        let command = v2::Command::new(name, description).input(input).meta(meta);
        v2::AvailableCommand::Command(command)
    })
}

fn call(content: Vec<v2::ToolCallContent>) -> v2::SessionUpdate {
    let update = v2::ToolCallUpdate::new("c").title("T").content(content);
    v2::SessionUpdate::ToolCallUpdate(update)
}

#[test]
fn a_hunk_that_differs_in_another_way_without_the_rest_of_its_file_arrives() {
    let lines = |letters: &str| letters.chars().flat_map(|c| [c, '\n']).collect::<String>();
    let (old, new) = (lines("accaacaaaa"), lines("ccaacaababbb"));
    let edit = diff::edit(Path::new("/f"), Some(&old), Some(&new));
    let seen = through_v1(&[call(vec![v2::ToolCallContent::Diff(edit.clone())])], &());
    let call = seen.tool_call(&v2::ToolCallId::new("c")).unwrap();
    let v2::ToolCallContent::Diff(seen) = &call.content[0] else {
        panic!("{call:?}")
    };
    assert_eq!(seen.patch, edit.patch);
}

proptest! {
    #[test]
    fn content_of_every_known_type_arrives(block in block()) {
        let down = content::down(block.clone());
        prop_assert_eq!(&content::up(down.clone()), &block);
        prop_assert_eq!(content::down(content::up(down.clone())), down);
    }

    #[test]
    fn messages_and_tool_content_arrive(block in block(), meta in meta()) {
        let message = v2::AgentMessage::new("m").content(vec![block.clone()]);
        let item = v2::ToolCallContent::Content(Box::new(v2::Content::new(block.clone()).meta(meta)));
        let events = [v2::SessionUpdate::AgentMessage(message), call(vec![item.clone()])];
        let seen = through_v1(&events, &());
        let message = seen.message(MessageKind::Agent, &v2::MessageId::new("m")).unwrap();
        prop_assert_eq!(&message.content, &vec![block]);
        let call = seen.tool_call(&v2::ToolCallId::new("c")).unwrap();
        prop_assert_eq!(&call.content, &vec![item]);
    }

    #[test]
    fn edits_whose_texts_were_kept_arrive(
        old in option::of("([abc]\n){0,12}"),
        new in "([abc]\n){0,12}[abc]?",
    ) {
        prop_assume!(old.as_ref() != Some(&new) && (old.is_some() || !new.is_empty()));
        let edit = diff::edit(Path::new("/f"), old.as_deref(), Some(&new));
        let kept = EditText { old: old.clone(), new: new.clone() };
        let texts = |_: &v2::ToolCallId, _: &v2::Diff, _: &Path| Some(kept.clone());
        let events = [call(vec![v2::ToolCallContent::Diff(edit.clone())])];
        let sent = project(&events, &texts);
        let v1::SessionUpdate::ToolCall(shown) = &sent[0] else { panic!("{sent:?}") };
        let expected = v1::Diff::new("/f", new).old_text(old);
        prop_assert_eq!(&shown.content, &vec![v1::ToolCallContent::Diff(expected)]);
        let seen = through_v1(&events, &texts);
        let call = seen.tool_call(&v2::ToolCallId::new("c")).unwrap();
        let v2::ToolCallContent::Diff(seen) = &call.content[0] else { panic!("{call:?}") };
        prop_assert_eq!(&seen.changes[0].operation, &edit.changes[0].operation);
        prop_assert_eq!(&seen.patch, &edit.patch);
    }

    #[test]
    fn edits_arrive_by_their_patch(old in "([abc]\n){1,12}", new in "([abc]\n){1,12}") {
        prop_assume!(old != new);
        let edit = diff::edit(Path::new("/f"), Some(&old), Some(&new));
        let seen = through_v1(&[call(vec![v2::ToolCallContent::Diff(edit.clone())])], &());
        let call = seen.tool_call(&v2::ToolCallId::new("c")).unwrap();
        let v2::ToolCallContent::Diff(seen) = &call.content[0] else { panic!("{call:?}") };
        prop_assert_eq!(&seen.changes[0].operation, &edit.changes[0].operation);
        prop_assert_eq!(&seen.patch, &edit.patch);
    }

    #[test]
    fn a_terminal_is_shown_with_command_output_and_end(
        command in option::of("[a-z]{1,5}"),
        output in "[a-z]{1,5}(\n[a-z]{1,5}){0,3}",
        code in option::of(-2..3i64),
    ) {
        let exit = code.map(|code| v2::TerminalExitStatus::new().exit_code(code));
        let mut update = v2::TerminalUpdate::new("t")
            .output(v2::TerminalOutput::new(STANDARD.encode(&output)));
        if let Some(command) = &command {
            update = update.command(command.clone());
        }
        if let Some(exit) = exit {
            update = update.exit_status(exit);
        }
        let reference = v2::ToolCallContent::Terminal(v2::Terminal::new("t"));
        let events = [v2::SessionUpdate::TerminalUpdate(update), call(vec![reference])];
        let command = command.map(|command| format!("$ {command}\n")).unwrap_or_default();
        let end = code.map(|code| format!("\n[exit code {code}]")).unwrap_or_default();
        let seen = through_v1(&events, &());
        let calls: Vec<_> = seen.tool_calls().map(ply_wire::transcript::ToolCall::text).collect();
        prop_assert_eq!(calls, vec![format!("{command}{output}{end}")]);
    }

    #[test]
    fn a_plan_arrives(entries in vec(entry(), 1..4), meta in meta()) {
        prop_assert_eq!(&plan::entries_up(&plan::entries_down(&entries)), &entries);
        let items = v2::PlanUpdateContent::items("p", entries.clone());
        let update = v2::PlanUpdate::new(items).meta(meta.clone());
        let seen = through_v1(&[v2::SessionUpdate::PlanUpdate(update)], &());
        let seen = seen.plan(&v2::PlanId::new(plan::MAIN_PLAN_ID)).unwrap();
        prop_assert_eq!(seen.entries(), Some(entries.as_slice()));
        prop_assert_eq!(&seen.meta, &meta);
    }

    #[test]
    fn options_and_commands_arrive(options in vec(option_(), 0..3), commands_ in vec(command(), 0..3)) {
        let down = config::options_down(&options, config::Booleans::Native);
        prop_assert_eq!(&config::options_up(&down), &options);
        prop_assert_eq!(&commands::up(&commands::down(&commands_)), &commands_);
        let events = [
            v2::SessionUpdate::ConfigOptionUpdate(v2::ConfigOptionUpdate::new(options.clone())),
            v2::SessionUpdate::AvailableCommandsUpdate(
                v2::AvailableCommandsUpdate::new(commands_.clone()),
            ),
        ];
        let seen = through_v1(&events, &());
        prop_assert_eq!(seen.config_options(), options);
        prop_assert_eq!(seen.commands(), commands_);
    }
}
