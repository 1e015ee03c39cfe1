//! Arbitrary updates of both versions, over few ids so that they meet.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ply_wire::{MaybeUndefined, convert::diff, v1, v2};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

pub fn v2_updates() -> impl Strategy<Value = Vec<v2::SessionUpdate>> {
    vec(v2_update(), 0..24)
}

pub fn v2_update() -> BoxedStrategy<v2::SessionUpdate> {
    prop_oneof![
        6 => message_update(),
        4 => tool_call_update().prop_map(v2::SessionUpdate::ToolCallUpdate),
        2 => (call_id(), tool_content()).prop_map(|(id, item)| {
            v2::SessionUpdate::ToolCallContentChunk(v2::ToolCallContentChunk::new(id, item))
        }),
        2 => terminal_update(),
        2 => plan_update(),
        2 => state_update().prop_map(v2::SessionUpdate::StateUpdate),
        1 => session_update(),
        1 => compaction_update(),
        1 => ("_[a-z]{1,4}", any::<u8>()).prop_map(|(kind, value)| {
            let fields = BTreeMap::from([("value".to_owned(), json!(value))]);
            v2::SessionUpdate::Other(v2::OtherSessionUpdate::new(kind, fields))
        }),
    ]
    .boxed()
}

/// Text chunks of one message as (id, text), which a test may cut in another way.
pub fn texts() -> impl Strategy<Value = Vec<(String, String)>> {
    vec(("m[1-3]", text()), 0..12)
}

pub fn v1_updates() -> impl Strategy<Value = Vec<v1::SessionUpdate>> {
    vec(v1_update(), 0..24)
}

fn v1_update() -> BoxedStrategy<v1::SessionUpdate> {
    let chunk = (block(), proptest::option::of("m[1-3]")).prop_map(|(block, id)| {
        let id = id.map(v1::MessageId::new);
        v1::ContentChunk::new(ply_wire::convert::content::down(block)).message_id(id)
    });
    prop_oneof![
        (0..3u8, chunk).prop_map(|(kind, chunk)| match kind {
            0 => v1::SessionUpdate::UserMessageChunk(chunk),
            1 => v1::SessionUpdate::AgentMessageChunk(chunk),
            _ => v1::SessionUpdate::AgentThoughtChunk(chunk),
        }),
        ("c[1-3]", text(), v1_status(), vec(v1_content(), 0..3)).prop_map(
            |(id, title, status, content)| {
                v1::SessionUpdate::ToolCall(
                    v1::ToolCall::new(id, title).status(status).content(content),
                )
            }
        ),
        (
            "c[1-3]",
            proptest::option::of(text()),
            proptest::option::of(v1_status()),
            proptest::option::of(vec(v1_content(), 0..3))
        )
            .prop_map(|(id, title, status, content)| {
                let fields = v1::ToolCallUpdateFields::new()
                    .title(title)
                    .status(status)
                    .content(content);
                v1::SessionUpdate::ToolCallUpdate(v1::ToolCallUpdate::new(id, fields))
            }),
        vec(text(), 0..3).prop_map(|texts| {
            let entry = |text| {
                v1::PlanEntry::new(
                    text,
                    v1::PlanEntryPriority::Low,
                    v1::PlanEntryStatus::Pending,
                )
            };
            v1::SessionUpdate::Plan(v1::Plan::new(texts.into_iter().map(entry).collect()))
        }),
        any::<u32>()
            .prop_map(|used| v1::SessionUpdate::UsageUpdate(v1::UsageUpdate::new(used.into(), 7))),
        "[a-c]".prop_map(
            |mode| v1::SessionUpdate::CurrentModeUpdate(v1::CurrentModeUpdate::new(mode))
        ),
    ]
    .boxed()
}

fn v1_status() -> impl Strategy<Value = v1::ToolCallStatus> {
    prop_oneof![
        Just(v1::ToolCallStatus::Pending),
        Just(v1::ToolCallStatus::InProgress),
        Just(v1::ToolCallStatus::Completed),
        Just(v1::ToolCallStatus::Failed),
    ]
}

fn v1_content() -> impl Strategy<Value = v1::ToolCallContent> {
    prop_oneof![
        block().prop_map(|block| {
            v1::ToolCallContent::Content(v1::Content::new(ply_wire::convert::content::down(block)))
        }),
        ("/[ab]", proptest::option::of(lines()), lines())
            .prop_map(|(path, old, new)| { v1::Diff::new(path, new).old_text(old).into() }),
        "t[12]".prop_map(|id| v1::ToolCallContent::Terminal(v1::Terminal::new(
            v1::TerminalId::new(id)
        ))),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zé ]{0,6}",
        Just(String::new()),
        Just("cancelled".to_owned())
    ]
}

fn lines() -> impl Strategy<Value = String> {
    (vec("[abc]{0,2}", 0..12), any::<bool>()).prop_map(|(lines, end)| {
        let text = lines.join("\n");
        if end && !text.is_empty() {
            text + "\n"
        } else {
            text
        }
    })
}

fn patch<T: Clone + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<MaybeUndefined<T>> {
    prop_oneof![
        3 => Just(MaybeUndefined::Undefined),
        1 => Just(MaybeUndefined::Null),
        3 => value.prop_map(MaybeUndefined::Value),
    ]
    .boxed()
}

fn meta() -> impl Strategy<Value = v2::Meta> {
    let value = prop_oneof![Just(Value::Null), Just(json!(1)), Just(json!({"x": null}))];
    proptest::collection::btree_map("[ab]", value, 0..3).prop_map(|map| map.into_iter().collect())
}

fn block() -> BoxedStrategy<v2::ContentBlock> {
    prop_oneof![
        6 => text().prop_map(v2::ContentBlock::from),
        1 => text().prop_map(|text| {
            let roles = vec![v2::Role::User, v2::Role::Other("_x".into())];
            let annotations = v2::Annotations::new().audience(roles).priority(0.5);
            v2::ContentBlock::Text(v2::TextContent::new(text).annotations(annotations))
        }),
        1 => Just(v2::ContentBlock::Image(v2::ImageContent::new("aGk=", "image/png"))),
        1 => proptest::option::of(meta()).prop_map(|meta| {
            v2::ContentBlock::Audio(v2::AudioContent::new("aGk=", "audio/wav").meta(meta))
        }),
        1 => (text(), any::<bool>(), proptest::option::of(meta())).prop_map(|(text, is_text, meta)| {
            let contents = if is_text {
                let contents = v2::TextResourceContents::new(text, "file:///x");
                v2::EmbeddedResourceResource::TextResourceContents(contents.meta(meta))
            } else {
                let contents = v2::BlobResourceContents::new("aGk=", "file:///x");
                v2::EmbeddedResourceResource::BlobResourceContents(contents.meta(meta))
            };
            v2::ContentBlock::Resource(v2::EmbeddedResource::new(contents))
        }),
        1 => any::<u64>().prop_map(|size| {
            let link = v2::ResourceLink::new("n", "file:///x").size(size);
            v2::ContentBlock::ResourceLink(link.icons(vec![v2::Icon::new("https://x/i.png")]))
        }),
        1 => "_[a-c]".prop_map(|kind| {
            v2::ContentBlock::Other(v2::OtherContentBlock::new(kind, BTreeMap::new()))
        }),
    ]
    .boxed()
}

/// Ids that look like those which the projector makes up are among them.
fn message_id() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => "m[1-3]",
        2 => "m1~[23]",
        1 => Just("ply/notice/v/1".to_owned()),
    ]
}

fn message_update() -> BoxedStrategy<v2::SessionUpdate> {
    let chunk = (0..3u8, message_id(), block(), proptest::option::of(meta())).prop_map(
        |(kind, id, block, meta)| {
            let chunk = v2::ContentChunk::new(block, id).meta(meta);
            match kind {
                0 => v2::SessionUpdate::UserMessageChunk(chunk),
                1 => v2::SessionUpdate::AgentMessageChunk(chunk),
                _ => v2::SessionUpdate::AgentThoughtChunk(chunk),
            }
        },
    );
    let upsert = (
        0..3u8,
        message_id(),
        patch(vec(block(), 0..3)),
        patch(meta()),
    )
        .prop_map(|(kind, id, content, meta)| match kind {
            0 => {
                v2::SessionUpdate::UserMessage(v2::UserMessage::new(id).content(content).meta(meta))
            }
            1 => v2::SessionUpdate::AgentMessage(
                v2::AgentMessage::new(id).content(content).meta(meta),
            ),
            _ => v2::SessionUpdate::AgentThought(
                v2::AgentThought::new(id).content(content).meta(meta),
            ),
        });
    prop_oneof![2 => chunk, 1 => upsert].boxed()
}

fn call_id() -> impl Strategy<Value = v2::ToolCallId> {
    prop_oneof![
        9 => "c[1-3]",
        1 => "ply/(terminal/t1|permission/v/1)",
    ]
    .prop_map(v2::ToolCallId::new)
}

pub fn tool_call_update() -> BoxedStrategy<v2::ToolCallUpdate> {
    let kind = prop_oneof![
        Just(v2::ToolKind::Read),
        Just(v2::ToolKind::Other),
        Just(v2::ToolKind::Unknown("_k".into()))
    ];
    let status = prop_oneof![
        Just(v2::ToolCallStatus::Pending),
        Just(v2::ToolCallStatus::InProgress),
        Just(v2::ToolCallStatus::Paused),
        Just(v2::ToolCallStatus::Completed),
        Just(v2::ToolCallStatus::Failed),
        Just(v2::ToolCallStatus::Cancelled),
        Just(v2::ToolCallStatus::Other("_s".into())),
    ];
    let location =
        ("/[ab]", 0..3u32).prop_map(|(path, line)| v2::ToolCallLocation::new(path).line(line));
    let raw = prop_oneof![Just(json!({"a": 1})), Just(Value::Null), Just(json!("x"))];
    let names = (patch(text()), patch(text()), patch(kind), patch(status));
    let lists = (patch(vec(tool_content(), 0..3)), patch(vec(location, 0..2)));
    let rest = (
        patch(raw.clone()),
        patch(raw),
        patch(Just(v2::ToolCallCapabilities::new())),
        patch(meta()),
    );
    (call_id(), names, lists, rest)
        .prop_map(
            |(
                id,
                (name, title, kind, status),
                (content, locations),
                (input, output, capabilities, meta),
            )| {
                v2::ToolCallUpdate::new(id)
                    .name(name)
                    .title(title)
                    .kind(kind)
                    .status(status)
                    .content(content)
                    .locations(locations)
                    .raw_input(input)
                    .raw_output(output)
                    .capabilities(capabilities)
                    .meta(meta)
            },
        )
        .boxed()
}

fn tool_content() -> BoxedStrategy<v2::ToolCallContent> {
    let edited = (
        "/[ab]",
        proptest::option::of(lines()),
        proptest::option::of(lines()),
        proptest::option::of(meta()),
    )
        .prop_map(|(path, old, new, meta)| {
            let diff = diff::edit(path.as_ref(), old.as_deref(), new.as_deref());
            v2::ToolCallContent::Diff(diff.meta(meta))
        });
    prop_oneof![
        3 => block().prop_map(|block| v2::ToolCallContent::Content(Box::new(v2::Content::new(block)))),
        2 => edited,
        1 => foreign_diff(),
        2 => ("t[12]", proptest::option::of(meta())).prop_map(|(id, meta)| {
            v2::ToolCallContent::Terminal(v2::Terminal::new(id).meta(meta))
        }),
        1 => Just(v2::ToolCallContent::Other(v2::OtherToolCallContent::new("_x", BTreeMap::new()))),
    ]
    .boxed()
}

/// Diffs as another agent might write them, patches that fit the changes badly included.
fn foreign_diff() -> BoxedStrategy<v2::ToolCallContent> {
    let change = prop_oneof![
        "/[ab]".prop_map(v2::DiffChange::add),
        "/[ab]".prop_map(v2::DiffChange::delete),
        "/[ab]".prop_map(
            |path| v2::DiffChange::modify(path).file_type(v2::DiffFileType::Other("_f".into()))
        ),
        "/[ab]".prop_map(|path| v2::DiffChange::modify(path).file_type(v2::DiffFileType::Binary)),
        Just(v2::DiffChange::move_file("/a", "/b")),
        Just(v2::DiffChange::copy("/a", "/b")),
    ];
    let line = prop_oneof![
        Just("diff --git /a /a".to_owned()),
        "(---|\\+\\+\\+) (/a|/b|a/a|/dev/null)",
        "@@ -[0-3],[0-3] \\+[0-3],[0-3] @@",
        "[ +-][abc]{0,2}",
        Just("\\ No newline at end of file".to_owned()),
        Just(String::new()),
    ];
    (vec(change, 0..3), proptest::option::of(vec(line, 0..12)))
        .prop_map(|(changes, patch)| {
            let mut diff = v2::Diff::new(changes);
            diff.patch = patch.map(|lines| v2::DiffPatch::new(lines.join("\n")));
            v2::ToolCallContent::Diff(diff)
        })
        .boxed()
}

fn terminal_update() -> BoxedStrategy<v2::SessionUpdate> {
    let bytes = prop_oneof![
        "[a-z\r\n]{0,6}".prop_map(String::into_bytes),
        Just(b"\x1b[31m\xe2\x82".to_vec()),
        Just(b"\xac\x1b[".to_vec()),
    ];
    let data = prop_oneof![
        9 => bytes.prop_map(|bytes| STANDARD.encode(bytes)),
        1 => Just("not base64".to_owned()),
    ]
    .boxed();
    let exit = prop_oneof![
        Just(v2::TerminalExitStatus::new()),
        Just(v2::TerminalExitStatus::new().exit_code(-1i64)),
        Just(v2::TerminalExitStatus::new().signal("SIGTERM".to_owned())),
    ];
    let output = data.clone().prop_map(v2::TerminalOutput::new);
    let cwd = prop_oneof![Just("/w"), Just("relative")].prop_map(v2::AbsolutePath::new);
    let size = (1..3u16).prop_map(|cols| v2::TerminalSize::new(cols, 24));
    let shown = (patch("[a-z]{1,3}"), patch(output), patch(exit));
    let rest = (patch(cwd), patch(size), patch(meta()));
    prop_oneof![
        ("t[1-3]", shown, rest).prop_map(|(id, (command, output, exit), (cwd, size, meta))| {
            let update = v2::TerminalUpdate::new(id)
                .command(command)
                .output(output)
                .exit_status(exit)
                .cwd(cwd)
                .size(size)
                .meta(meta);
            v2::SessionUpdate::TerminalUpdate(update)
        }),
        ("t[1-3]", data).prop_map(|(id, data)| {
            v2::SessionUpdate::TerminalOutputChunk(v2::TerminalOutputChunk::new(id, data))
        }),
    ]
    .boxed()
}

fn plan_update() -> BoxedStrategy<v2::SessionUpdate> {
    let status = prop_oneof![
        Just(v2::PlanEntryStatus::Pending),
        Just(v2::PlanEntryStatus::Cancelled),
        Just(v2::PlanEntryStatus::Other("_s".into()))
    ];
    let priority = prop_oneof![
        Just(v2::PlanEntryPriority::High),
        Just(v2::PlanEntryPriority::Other("_p".into()))
    ];
    let entry = (text(), priority, status, proptest::option::of(meta())).prop_map(
        |(text, priority, status, meta)| v2::PlanEntry::new(text, priority, status).meta(meta),
    );
    let plan = prop_oneof![
        3 => ("p[1-2]", vec(entry, 0..3)).prop_map(|(id, entries)| v2::PlanUpdateContent::items(id, entries)),
        1 => "p[1-2]".prop_map(|id| {
            v2::PlanUpdateContent::Other(v2::OtherPlanUpdateContent::new("_x", id, BTreeMap::new()))
        }),
    ]
    .boxed();
    (plan, proptest::option::of(meta()))
        .prop_map(|(plan, meta)| {
            v2::SessionUpdate::PlanUpdate(v2::PlanUpdate::new(plan).meta(meta))
        })
        .boxed()
}

pub fn state_update() -> BoxedStrategy<v2::StateUpdate> {
    let reason = prop_oneof![
        Just(v2::StopReason::EndTurn),
        Just(v2::StopReason::Cancelled),
        Just(v2::StopReason::Error(v2::ErrorStopReason::new())),
        Just(v2::StopReason::Other(v2::OtherStopReason::new(
            "_r",
            BTreeMap::new()
        ))),
    ];
    let work = prop_oneof![
        "t[1-3]".prop_map(|id| v2::BackgroundWork::Terminal(v2::BackgroundTerminal::new(id))),
        call_id().prop_map(|id| v2::BackgroundWork::ToolCall(v2::BackgroundToolCall::new(id))),
    ];
    let background = proptest::option::of(vec(work, 0..3));
    prop_oneof![
        3 => background.clone().prop_map(|background| {
            v2::StateUpdate::Running(v2::RunningStateUpdate::new().background(background))
        }),
        1 => background.clone().prop_map(|background| {
            let waiting = v2::RequiresActionStateUpdate::new().background(background);
            v2::StateUpdate::RequiresAction(waiting)
        }),
        3 => (proptest::option::of(reason), background).prop_map(|(reason, background)| {
            let idle = v2::IdleStateUpdate::new().stop_reason(reason).background(background);
            v2::StateUpdate::Idle(idle)
        }),
        1 => Just(v2::StateUpdate::Other(v2::OtherStateUpdate::new("_busy", BTreeMap::new()))),
    ]
    .boxed()
}

fn session_update() -> BoxedStrategy<v2::SessionUpdate> {
    let option = prop_oneof![
        "[ab]".prop_map(|value| {
            let values = vec![
                v2::SessionConfigSelectOption::new("a", "A"),
                v2::SessionConfigSelectOption::new("b", "B"),
            ];
            v2::SessionConfigOption::select("mode", "Mode", value, values)
                .category(v2::SessionConfigOptionCategory::Mode)
        }),
        any::<bool>().prop_map(|on| v2::SessionConfigOption::boolean("flag", "Flag", on)),
    ];
    let command = prop_oneof![
        Just(v2::AvailableCommand::Command(v2::Command::new("c", "d"))),
        Just(v2::AvailableCommand::Other(v2::OtherAvailableCommand::new(
            "_x",
            "c",
            "d",
            BTreeMap::new()
        ))),
    ];
    let cost = any::<u8>().prop_map(|amount| v2::Cost::new(amount.into(), "EUR"));
    prop_oneof![
        vec(option, 0..3).prop_map(|options| {
            v2::SessionUpdate::ConfigOptionUpdate(v2::ConfigOptionUpdate::new(options))
        }),
        vec(command, 0..3).prop_map(|commands| {
            v2::SessionUpdate::AvailableCommandsUpdate(v2::AvailableCommandsUpdate::new(commands))
        }),
        (patch(text()), patch(text()), patch(meta())).prop_map(|(title, at, meta)| {
            let update = v2::SessionInfoUpdate::new()
                .title(title)
                .updated_at(at)
                .meta(meta);
            v2::SessionUpdate::SessionInfoUpdate(update)
        }),
        (any::<u32>(), patch(cost), proptest::option::of(meta())).prop_map(|(used, cost, meta)| {
            v2::SessionUpdate::UsageUpdate(
                v2::UsageUpdate::new(used.into(), 9).cost(cost).meta(meta),
            )
        }),
        text().prop_map(|title| v2::SessionUpdate::Notice(v2::Notice::new(
            v2::NoticeSeverity::Warning,
            title
        ))),
    ]
    .boxed()
}

fn compaction_update() -> BoxedStrategy<v2::SessionUpdate> {
    let status = prop_oneof![
        Just(v2::CompactionStatus::InProgress),
        Just(v2::CompactionStatus::Completed),
        Just(v2::CompactionStatus::Other("_s".into()))
    ];
    prop_oneof![
        (
            "k[12]",
            status,
            patch(vec(block(), 0..2)),
            patch(text()),
            patch(meta())
        )
            .prop_map(|(id, status, summary, error, meta)| {
                let update = v2::CompactionUpdate::new(id, status)
                    .summary(summary)
                    .error(error)
                    .meta(meta);
                v2::SessionUpdate::CompactionUpdate(update)
            }),
        ("k[12]", block()).prop_map(|(id, block)| {
            v2::SessionUpdate::CompactionSummaryChunk(v2::CompactionSummaryChunk::new(id, block))
        }),
    ]
    .boxed()
}
